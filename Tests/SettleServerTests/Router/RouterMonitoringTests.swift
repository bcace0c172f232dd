import Dispatch
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct RouterMonitoringTests {
    @Test func `a running compaction is an active task`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("GET", "/_active_tasks").json == [])
        let begun = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        let database = try client.server.state.databases.open("db")
        let instance = try database.instanceName()
        client.server.state.compactions.start("db", instance: instance) { report in
            report("document_copy", 1, 4)
            begun.signal()
            goesOn.wait()
            return .failure(DatabaseError(.diskFull, "there is no room"))
        }
        #expect(begun.wait(timeout: .now() + 300) == .success)
        let task = try client.send("GET", "/_active_tasks").json[0]
        #expect(task?["type"] == "database_compaction" && task?["database"] == "db" && task?["progress"] == 25)
        #expect(task?["changes_done"] == 1 && task?["total_changes"] == 4 && task?["phase"] == "document_copy")
        #expect(try client.send("GET", "/db").json["compact_running"] == true)
        goesOn.signal()
        waitUntil("the compaction ends") {
            try !client.server.state.compactions.isRunning(database, "db")
        }
        #expect(try client.send("GET", "/_active_tasks").json == [])
        let failure: JSONValue = ["number": 1, "error": "disk_full", "reason": "there is no room"]
        #expect(try client.send("GET", "/db/_info").json["compaction"] == failure)
        // A database of the same name is another one.
        #expect(try client.send("DELETE", "/db").status == 200)
        #expect(try client.send("PUT", "/db").status == 201)
        #expect(try client.send("GET", "/db/_info").json["compaction"] == nil)
    }

    @Test func `the compaction of a deleted database does not take the place of its successor's`() throws {
        let client = try RouterClient.withDatabase()
        let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let compactions = client.server.state.compactions
        let instance = try client.server.state.databases.open("db").instanceName()
        compactions.start("db", instance: instance) { _ in
            begun.signal()
            goesOn.wait()
            return .failure(DatabaseError(.closed, "the database was deleted"))
        }
        #expect(begun.wait(timeout: .now() + 300) == .success)
        #expect(try client.send("DELETE", "/db").status == 200)
        #expect(try client.send("PUT", "/db").status == 201)
        #expect(try client.send("GET", "/db").json["compact_running"] == false)
        #expect(try client.send("POST", "/db/_compact", [:]).status == 202)
        #expect(try client.send("GET", "/db").json["compact_running"] == true)
        goesOn.signal()
        waitUntil("the compaction of the second database ends") {
            try client.send("GET", "/db").json["compact_running"] == false
        }
        let compaction = try client.send("GET", "/db/_info").json["compaction"]
        #expect(compaction?["number"] == 2 && compaction?["error"] == nil, "\(compaction ?? .null)")
    }

    @Test func `completed requests are counted`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", [:])
        _ = try client.send("PUT", "/db/a", [:])
        _ = try client.send("GET", "/db/a")
        _ = try client.send("BREW", "/db/a")
        let answer = try client.send("GET", "/_node/_local/_prometheus")
        #expect(answer.headers["Content-Type"] == "text/plain; version=2.0")
        for line in [
            "# TYPE couchdb_httpd_requests_total counter", "couchdb_httpd_requests_total 5",
            "couchdb_httpd_request_methods{method=\"PUT\"} 3", "couchdb_httpd_request_methods{method=\"other\"} 1",
            "couchdb_httpd_status_codes{code=\"409\"} 1", "couchdb_document_writes_total 1",
            "couchdb_database_reads_total 1", "couchdb_httpd_clients_requesting_changes 0",
        ] {
            #expect(answer.text.contains(line + "\n"), "\(line)")
        }
        #expect(answer.text.contains("\ncouchdb_uptime_seconds 0\n") || answer.text.contains("couchdb_uptime_seconds "))
        let statistics = try client.send("GET", "/_node/_local/_stats").json
        #expect(statistics["couchdb"]?["httpd_request_methods"]?["GET"]?["type"] == "counter")
        let one = try client.send("GET", "/_node/_local/_stats/couchdb/document_writes").json
        #expect(one["value"] == 1)
        #expect(try client.send("GET", "/_node/_local/_stats/couchdb/none").status == 404)
    }

    @Test func `how long requests took is a histogram`() throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b", "c"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let told = try client.send("GET", "/_node/_local/_stats/couchdb/request_time").json
        let value = try #require(told["value"])
        #expect(told["type"] == "histogram" && value["n"] == 4)
        #expect(value["histogram"]?.array?.compactMap { $0[1]?.int }.reduce(0, +) == 4)
        let percentiles = value["percentile"]?.array?.compactMap { $0[1]?.number?.double } ?? []
        #expect(percentiles.count == 6 && percentiles == percentiles.sorted() && percentiles[0] > 0)
        let text = try client.send("GET", "/_node/_local/_prometheus").text
        #expect(text.contains("# TYPE couchdb_request_time_seconds summary\n"))
        #expect(text.contains("couchdb_request_time_seconds_count 5\n"))
    }

    @Test func `times of requests are forgotten after a while, and a percentile is never below the measured time`() {
        var times = RequestTimes()
        let start = ContinuousClock.now
        for microseconds in [0, 1, 7, 8, 9, 100, 1000, 123_456, 9_000_000] {
            times.add(since: start, now: start + .microseconds(microseconds))
        }
        let summary = times.summary(now: start + .seconds(1))
        #expect(summary.count == 9 && summary.percentile(1) >= 9000 && summary.percentile(1) < 9000 * 1.13)
        #expect(summary.percentile(0.5) > 0.009 && summary.percentile(0.5) <= 0.0102)
        #expect(times.summary(now: start + .seconds(200)).count == 0)
        #expect(times.total.count == 9)
    }

    @Test func `open feeds are counted`() throws {
        let client = try RouterClient.withDatabase()
        let database = try client.server.state.databases.open("db")
        let metrics = client.server.state.metrics
        let context = RequestContext(
            server: client.server.state,
            request: ServerRequest(
                method: "GET", target: RequestTarget("/db/_changes"), headers: HTTPHeaders(), body: BufferedBody([])),
            parameters: ["db": "db"], user: User(name: nil, roles: []), query: ["feed": "continuous"]
        )
        let stream = try ChangesStream(database: database, query: ChangesQuery(context), filter: .all, metrics: metrics)
        let gauge = {
            metrics.all(openDatabases: 0).first { $0.path.last == "clients_requesting_changes" }?.values[0].value
        }
        stream.begin {}
        #expect(gauge() == 1)
        stream.end()
        #expect(gauge() == 0)
    }

    @Test func `the configuration can be read, but not its secrets`() throws {
        let client = try RouterClient {
            $0.security.crossOrigin = CrossOriginOptions(origins: ["https://app.example"])
            $0.security.proxy = ProxyOptions(secret: "hush-hush")
        }
        let all = try client.send("GET", "/_node/_local/_config")
        #expect(all.json["chttpd"]?["enable_cors"] == "true")
        #expect(all.json["cors"]?["origins"] == "https://app.example")
        #expect(!all.text.contains("hush-hush") && all.json["admins"] == nil)
        let section = try client.send("GET", "/_node/_local/_config/couchdb").json
        #expect(section["users_db_security_editable"] == "false" && section["max_document_size"] == "8000000")
        #expect(try client.send("GET", "/_node/_local/_config/none").json == [:])
        #expect(try client.send("GET", "/_node/_local/_config/chttpd/port").json == "5984")
        #expect(try client.send("GET", "/_node/_local/_config/chttpd/none").error == "not_found: unknown_config_value")
        #expect(try client.send("GET", "/_node/other/_config").status == 404)
        #expect(try client.send("PUT", "/_node/_local/_config/chttpd/port", "1").status == 403)
    }
}
