import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// `/_db_updates`: which databases were created, changed and deleted.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DatabaseUpdatesTests {
    private struct Event: Hashable, CustomStringConvertible {
        let type: String
        let name: String
        var description: String { "\(type):\(name)" }
    }

    private func events(_ answer: JSONValue) -> [Event] {
        (answer["results"]?.array ?? []).compactMap { row in
            guard let type = row["type"]?.string, let name = row["db_name"]?.string, row["seq"]?.string != nil else {
                return nil
            }
            return Event(type: type, name: name)
        }
    }

    private func json(_ live: LiveServer, _ path: String) throws -> JSONValue {
        try JSONValue(utf8: try live.send("GET", path).body)
    }

    /// Requests the feed until an event is among those since a position.
    private func wait(for event: Event, on live: LiveServer, since: String = "0") throws -> JSONValue {
        var answer = JSONValue.null
        waitUntil {
            answer = (try? json(live, "/_db_updates?since=\(since)")) ?? .null
            return events(answer).contains(event)
        }
        return answer
    }

    @Test func `creating, changing and deleting a database are events in that order`() throws {
        let live = try LiveServer()
        let first = try json(live, "/_db_updates")
        #expect(first["results"]?.array != nil)
        let since = try #require(first["last_seq"]?.string)
        _ = try live.send("PUT", "/db")
        #expect(events(try json(live, "/_db_updates?since=\(since)")) == [Event(type: "created", name: "db")])
        _ = try live.send("PUT", "/db/a", "{}")
        _ = try wait(for: Event(type: "updated", name: "db"), on: live, since: since)
        // A setting and a local document are no changes.
        _ = try live.send("PUT", "/db/_revs_limit", "900")
        _ = try live.send("PUT", "/db/_local/x", "{}")
        _ = try live.send("DELETE", "/db")
        let all = try json(live, "/_db_updates?since=\(since)")
        #expect(events(all).map(\.type) == ["created", "updated", "deleted"])
        let limited = try json(live, "/_db_updates?limit=1&since=\(since)")
        #expect(events(limited).count == 1)
        let rest = try #require(limited["last_seq"]?.string)
        #expect(events(try json(live, "/_db_updates?since=\(rest)")).count == 2)
    }

    @Test func `databases that existed before the first request are listed as created`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        #expect(events(try json(live, "/_db_updates")).contains(Event(type: "created", name: "db")))
    }

    @Test func `long polling waits for an event, and a continuous feed has a line for each`() throws {
        let live = try LiveServer()
        _ = try live.send("GET", "/_db_updates")
        let poll = try live.connect()
        try poll.write(LiveServer.request("GET", "/_db_updates?feed=longpoll&since=now"))
        _ = try poll.read(through: "\"results\":[")
        let feed = try live.connect()
        try feed.write(LiveServer.request("GET", "/_db_updates?feed=continuous&since=now&timeout=60000"))
        _ = try feed.read(through: "\r\n\r\n")
        let source = try live.connect()
        try source.write(LiveServer.request("GET", "/_db_updates?feed=eventsource&since=now"))
        #expect(try source.read(through: "\r\n\r\n").contains("text/event-stream"))
        _ = try live.send("PUT", "/db")
        let row = #"{"db_name":"db","type":"created","seq":""#
        #expect(try poll.read(through: "0\r\n\r\n").contains(row))
        #expect(try feed.read(through: "\n").isEmpty == false)
        #expect(try feed.read(through: "}\n").contains(row))
        #expect(try source.read(through: "\n\n").contains("data: " + row))
        _ = try live.send("PUT", "/db/a", "{}")
        #expect(try feed.read(through: "}\n").contains(#"{"db_name":"db","type":"updated""#))
    }

    @Test func `a position is valid after a restart, and changes of the folder meanwhile are noticed`() throws {
        let folder = try TemporaryFolder()
        var options = ServerOptions()
        options.port = 0
        options.security.admins = ["admin": "admin"]
        options.security.passwordIterations = 10
        func ask(_ server: Server, _ method: String, _ path: String) throws -> JSONValue {
            let connection = try RawConnection(port: server.port)
            try connection.write(LiveServer.request(method, path))
            return try JSONValue(utf8: try connection.readAnswer().body)
        }
        let store = try DocumentStore(path: folder.path)
        let server = Server(store: store, options: options)
        try server.start()
        _ = try ask(server, "PUT", "/kept")
        _ = try ask(server, "PUT", "/gone")
        let since = try #require(try ask(server, "GET", "/_db_updates")["last_seq"]?.string)
        _ = try ask(server, "PUT", "/later")
        server.stop()
        try store.delete("gone")
        try store.create("copied").close()
        let again = Server(store: store, options: options)
        try again.start()
        defer { again.stop() }
        let found = Set(events(try ask(again, "GET", "/_db_updates?since=\(since)")))
        let expected: Set = [
            Event(type: "created", name: "later"), Event(type: "deleted", name: "gone"),
            Event(type: "created", name: "copied"),
        ]
        #expect(found == expected)
    }

    @Test func `after a kill every database has an event, and the server answers before all are written`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        let names = (0..<450).map { "db\($0)" }
        for name in names { try store.create(name).close() }
        var since = "0"
        do {
            let live = try LiveServer(in: folder)
            since = try #require(try json(live, "/_db_updates")["last_seq"]?.string)
            live.server.stop()
        }
        // What a killed server leaves behind.
        let log = try store.open("_global_changes")
        try log.saveLocalDocument(DocumentID(validating: "_local/running"), body: [:])
        log.close()
        let live = try LiveServer(in: folder)
        #expect(try live.send("GET", "/db7").head.hasPrefix("HTTP/1.1 200"))
        let expected = Set(names.map { Event(type: "updated", name: $0) })
        waitUntil { expected.isSubset(of: (try? events(json(live, "/_db_updates?since=\(since)"))) ?? []) }
        #expect(expected.isSubset(of: events(try json(live, "/_db_updates?since=\(since)"))))
    }

    @Test func `a change that the log can't take is written later`() throws {
        let client = try RouterClient.withDatabase()
        let updates = client.server.state.updates
        let updated = Event(type: "updated", name: "db")
        let log = try updates.log()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        waitUntil("the first write is logged") {
            try events(client.send("GET", "/_db_updates").json).contains(updated)
        }
        let since = try #require(try client.send("GET", "/_db_updates").json["last_seq"]?.string)
        try log.suspend()
        #expect(log.isSuspended)
        #expect(try client.send("PUT", "/db/b", [:]).status == 201)
        // A deletion is logged after the writes before it; so this call returns when an attempt for them has failed.
        updates.deleted("none")
        try log.resume()
        waitUntil("the second write is logged") {
            try events(client.send("GET", "/_db_updates?since=\(since)").json).contains(updated)
        }
    }

    @Test func `a change that the log could not take does not follow the deletion of its database`() throws {
        let client = try RouterClient.withDatabase()
        let updates = client.server.state.updates
        let log = try updates.log()
        let since = try #require(try client.send("GET", "/_db_updates").json["last_seq"]?.string)
        try log.suspend()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        #expect(try client.send("DELETE", "/db").status == 200)
        try log.resume()
        #expect(try client.send("PUT", "/other").status == 201)
        #expect(try client.send("PUT", "/other/a", [:]).status == 201)
        // All changes that were put off are written together with this one.
        var found: [Event] = []
        waitUntil("a later write is logged") {
            found = try events(client.send("GET", "/_db_updates?since=\(since)").json)
            return found.contains(Event(type: "updated", name: "other"))
        }
        #expect(!found.contains(Event(type: "updated", name: "db")))
    }

    @Test func `only server administrators may read database updates`() throws {
        let client = try RouterClient()
        _ = try client.send("PUT", "/_users")
        let user: JSONValue = ["name": "anna", "password": "pw", "roles": [], "type": "user"]
        _ = try client.send("PUT", "/_users/org.couchdb.user:anna", user)
        let anna: HTTPHeaders = ["Authorization": "Basic YW5uYTpwdw=="]
        #expect(try client.send("GET", "/_db_updates", headers: anna).status == 401)
        #expect(try client.send("GET", "/_membership", headers: anna).status == 401)
        #expect(try client.send("GET", "/_node/_local/_versions", headers: anna).status == 401)
        #expect(try client.send("GET", "/_db_updates?feed=odd").status == 400)
        #expect(try client.send("POST", "/_db_updates", [:]).status == 405)
    }

    @Test func `the node reports its name, a cluster of one, and its versions`() throws {
        let client = try RouterClient()
        let members = try client.send("GET", "/_membership").json
        #expect(members == ["all_nodes": ["nonode@nohost"], "cluster_nodes": ["nonode@nohost"]])
        #expect(try client.send("GET", "/_node/_local").json == ["name": "nonode@nohost"])
        let versions = try client.send("GET", "/_node/_local/_versions").json
        #expect(versions["settle"]?["version"]?.string != nil)
        #expect(versions["collation_driver"]?["name"]?.string == "libicu")
        #expect(versions["erlang"] == nil)
        #expect(try client.send("GET", "/_node/other@host/_versions").status == 404)
    }
}
