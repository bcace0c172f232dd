import Settle
import Testing

@testable import SettleServer

/// `_replicate`, between two servers on sockets.
@Suite(.timeLimit(.minutes(5))) struct ReplicateTests {
    @Test func `a one-shot replication answers with its log at the end`() throws {
        let room = try ReplicatorRoom()
        for name in ["x", "y"] { #expect(try room.near.ask("PUT", "/a/\(name)", ["n": 1]).status == 201) }
        let first = try room.replicate()
        #expect(first.status == 200 && first.json["ok"] == true && first.json["no_changes"] == nil)
        let entry = try #require(first.json["history"]?.array?.first)
        #expect(entry["docs_written"] == 2 && entry["docs_read"] == 2 && entry["missing_found"] == 2)
        #expect(entry["doc_write_failures"] == 0 && entry["number"] == nil)
        #expect(first.json["session_id"]?.string?.count == 32 && first.json["source_last_seq"] != nil)
        #expect(room.has(room.far, "/a/x") && room.has(room.far, "/a/y"))
        let second = try room.replicate()
        #expect(second.json["no_changes"] == true && second.json["session_id"] == first.json["session_id"])
        #expect(try room.near.ask("GET", "/_scheduler/jobs").json["total_rows"] == 0)
    }

    @Test func `a server may replicate with itself over HTTP, all its threads being asked`() throws {
        let room = try ReplicatorRoom()
        #expect(try room.near.ask("PUT", "/a/x", [:]).status == 201)
        // More at the same time than there are threads that answer.
        let connections = try (0..<50).map { number in
            let body: JSON = [
                "source": room.url(room.near, "a"), "target": room.url(room.near, "copy\(number)"),
                "create_target": true,
            ]
            let connection = try room.near.connect(seconds: 60)
            try connection.write(LiveServer.request("POST", "/_replicate", body.description))
            return connection
        }
        for connection in connections { #expect(try connection.readAnswer().head.contains(" 200 ")) }
        for number in 0..<50 { #expect(room.has(room.near, "/copy\(number)/x")) }
    }

    @Test func `the target is created if that is asked for, and filters are those of the request`() throws {
        let room = try ReplicatorRoom()
        for number in 0..<4 {
            #expect(try room.near.ask("PUT", "/a/d\(number)", ["n": .number(JSONNumber(number))]).status == 201)
        }
        let ids = try room.replicate(
            ["create_target": true, "create_target_params": ["q": 1], "doc_ids": ["d1", "d%32"]], to: "ids")
        #expect(ids.json["docs_written"] == 2 && ids.json["doc_write_failures"] == 0)
        #expect(try room.far.ask("GET", "/ids").json["doc_count"] == 2)
        let selected = try room.replicate(["create_target": true, "selector": ["n": ["$lt": 1]]], to: "selected")
        #expect(selected.json["docs_written"] == nil && room.has(room.far, "/selected/d0"))
        #expect(try room.far.ask("GET", "/selected").json["doc_count"] == 1)
        let since = try room.near.ask("GET", "/a/_changes?limit=3").json["last_seq"] ?? .null
        #expect(try room.replicate(["create_target": true, "since_seq": since], to: "late").status == 200)
        #expect(try room.far.ask("GET", "/late").json["doc_count"] == 1 && room.has(room.far, "/late/d3"))
        let without = try room.replicate(["create_target": true, "use_checkpoints": false], to: "without")
        #expect(without.json == ["ok": true, "use_checkpoints": false])
        #expect(try room.far.ask("GET", "/without/_local_docs").json["rows"]?.array?.isEmpty == true)
    }

    @Test func `a continuous replication goes on until it is cancelled`() throws {
        let room = try ReplicatorRoom()
        let started = try room.replicate(["continuous": true])
        let id = try #require(started.json["_local_id"]?.string)
        #expect(started.status == 202 && id.hasSuffix("+continuous"))
        #expect(try room.near.ask("PUT", "/a/x", [:]).status == 201)
        waitUntil { room.has(room.far, "/a/x") }
        #expect(try room.replicate(["continuous": true]).json["_local_id"]?.string == id)
        let task = try room.near.ask("GET", "/_active_tasks").json.array?.first { $0["type"] == "replication" }
        #expect(task?["replication_id"]?.string == id && task?["continuous"] == true)
        let escaped = id.replacing("+", with: "%2B")
        let job = try room.near.ask("GET", "/_scheduler/jobs/\(escaped)").json
        #expect(job["user"] == "admin" && job["history"]?.array?.last?["type"] == "added")
        let cancelled = try room.near.ask("POST", "/_replicate", ["replication_id": .string(id), "cancel": true])
        #expect(cancelled.status == 200 && cancelled.json["_local_id"]?.string == id)
        #expect(try room.replicate(["continuous": true, "cancel": true]).status == 404)
        #expect(try room.near.ask("GET", "/_scheduler/jobs").json["total_rows"] == 0)
    }

    @Test func `what can't be is refused with a reason, and no reason has a password`() throws {
        let room = try ReplicatorRoom()
        let (near, far) = (room.url(room.near, "a"), room.url(room.far, "a"))
        let wrong: [(JSON, Int, String)] = [
            (["source": "A", "target": far], 400, "bad_request"), (["source": near], 400, "bad_request"),
            (["source": near, "target": "ftp://admin:hush@x/a"], 400, "bad_request"),
            (["source": near, "target": ["url": far, "headers": []]], 400, "bad_request"),
            (["source": near, "target": far, "doc_ids": [], "selector": [:]], 400, "bad_request"),
            (["source": near, "target": far, "continuous": 1], 400, "bad_request"),
            (["source": near, "target": far, "cancel": 1], 400, "bad_request"),
            (["source": near, "target": room.url(room.far, "nope", "admin:hush@")], 401, "unauthorized"),
            (["source": near, "target": room.url(room.far, "nope")], 404, "db_not_found"),
            (["source": room.url(room.near, "nope"), "target": far], 404, "db_not_found"),
            (["source": near, "target": room.url(room.far, "a", "")], 401, "unauthorized"),
        ]
        for (body, status, error) in wrong {
            let answer = try room.near.ask("POST", "/_replicate", body)
            #expect(answer.status == status && answer.json["error"]?.string == error, "\(body): \(answer.text)")
            #expect(!answer.text.contains("hush"))
        }
        #expect(try room.near.ask("GET", "/_scheduler/jobs").json["total_rows"] == 0)
    }

    @Test func `a name stands for a database here, with the rights of who asks`() throws {
        let room = try ReplicatorRoom()
        #expect(try room.near.ask("PUT", "/a/x", [:]).status == 201)
        let body: JSON = ["source": "a", "target": "team/b", "create_target": true]
        #expect(try room.near.ask("POST", "/_replicate", body).json["ok"] == true)
        #expect(room.has(room.near, "/team%2Fb/x"))
    }

    @Test func `only the server's administrators may start a replication or see one`() throws {
        let room = try ReplicatorRoom()
        let user: JSON = ["name": "anna", "password": "pw", "roles": [], "type": "user"]
        #expect(try room.near.ask("PUT", "/_users/org.couchdb.user:anna", user).status == 201)
        for who in ["", "anna:pw"] {
            for (method, path) in [
                ("POST", "/_replicate"), ("GET", "/_scheduler/jobs"), ("GET", "/_scheduler/docs"),
                ("GET", "/_active_tasks"),
            ] {
                #expect(try room.near.ask(method, path, method == "POST" ? [:] : nil, as: who).status == 401)
            }
        }
    }
}
