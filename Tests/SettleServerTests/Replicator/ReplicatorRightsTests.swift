import Foundation
import Settle
import SettleHTTP
import SettleReplication
import Testing

@testable import SettleServer

/// Access rights of replications, who can see their passwords, and which hosts they may reach.
@Suite(.timeLimit(.minutes(5))) struct ReplicatorRightsTests {
    /// A room whose `_replicator` is open to users.
    private func open(_ change: (inout ServerOptions) -> Void = { _ in }) async throws -> ReplicatorRoom {
        let room = try await ReplicatorRoom(change)
        for name in ["anna", "bert"] {
            let user: JSONValue = ["name": .string(name), "password": "pw", "roles": [], "type": "user"]
            #expect(try await room.near.ask("PUT", "/_users/org.couchdb.user:\(name)", user).status == 201)
        }
        let security: JSONValue = ["admins": [:], "members": ["names": ["anna", "bert"]]]
        #expect(try await room.near.ask("PUT", "/_replicator/_security", security).status == 200)
        return room
    }

    private func body(_ room: ReplicatorRoom, _ more: JSONObject = JSONObject()) -> JSONValue {
        var body: JSONObject = [
            "source": [
                "url": room.url(room.near, "a", ""), "auth": ["basic": ["username": "u", "password": "hush1"]],
            ],
            "target": room.url(room.far, "a", "admin:hush2@"), "continuous": true,
        ]
        for member in more { body[member.name] = member.value }
        return .object(body)
    }

    @Test func `a replication document belongs to its author, and others see no password`() async throws {
        let room = try await open()
        let mine = try await room.near.ask("PUT", "/_replicator/mine", body(room), as: "anna:pw")
        #expect(mine.status == 201)
        let own = try await room.near.ask("GET", "/_replicator/mine", as: "anna:pw")
        #expect(own.json["owner"] == "anna" && own.text.contains("hush1") && own.text.contains("hush2"))
        #expect(try await room.near.ask("GET", "/_replicator/mine").text.contains("hush1"))
        let other = try await room.near.ask("GET", "/_replicator/mine?open_revs=all&attachments=true", as: "bert:pw")
        #expect(other.status == 200 && other.json["owner"] == "anna" && !other.text.contains("hush"))
        #expect(other.json["source"]?["url"] != nil && other.json["_rev"] == nil)
        let revision = own.json["_rev"] ?? .null
        for (method, path, change) in [
            ("PUT", "/_replicator/mine", body(room, ["_rev": revision])),
            ("PUT", "/_replicator/mine", body(room, ["_rev": revision, "owner": "anna"])),
            ("DELETE", "/_replicator/mine?rev=\(revision.string ?? "")", nil),
        ] as [(String, String, JSONValue?)] {
            #expect(try await room.near.ask(method, path, change, as: "bert:pw").status == 403, "\(method) \(path)")
        }
        let batch: JSONValue = ["docs": [["_id": "mine", "_rev": revision, "_deleted": true]]]
        let answers = try await room.near.ask("POST", "/_replicator/_bulk_docs", batch, as: "bert:pw").json
        #expect(answers[0]?["error"] == "forbidden")
        #expect(
            try await room.near.ask("PUT", "/_replicator/his", body(room, ["owner": "anna"]), as: "bert:pw").status
                == 403)
        let brought: JSONValue = ["new_edits": false, "docs": [["_id": "new", "_rev": "1-a", "owner": "admin"]]]
        #expect(try await room.near.ask("POST", "/_replicator/_bulk_docs", brought, as: "bert:pw").status == 403)
        // The replication has a wrong password, and if it has failed meanwhile its document has a new revision.
        let newest = try await room.near.ask("GET", "/_replicator/mine").json["_rev"]?.string ?? ""
        #expect(try await room.near.ask("DELETE", "/_replicator/mine?rev=\(newest)").status == 200)
    }

    @Test func `lists, feeds and other ways around are for administrators only`() async throws {
        let room = try await open()
        #expect(try await room.near.ask("PUT", "/_replicator/mine", body(room), as: "anna:pw").status == 201)
        let ways: [(String, String, JSONValue?)] = [
            ("GET", "/_replicator/_all_docs?include_docs=true", nil),
            ("GET", "/_replicator/_changes?include_docs=true", nil),
            ("POST", "/_replicator/_changes?filter=_selector", ["selector": [:]]),
            ("POST", "/_replicator/_bulk_get", ["docs": [["id": "mine"]]]),
            ("GET", "/_replicator/_design_docs", nil), ("GET", "/_replicator/_local_docs?include_docs=true", nil),
            ("GET", "/_replicator/mine/file", nil), ("COPY", "/_replicator/mine", nil),
            ("POST", "/_replicator/_find", ["selector": [:]]), ("GET", "/_replicator/_design/x/_view/y", nil),
        ]
        for (method, path, content) in ways {
            let answer = try await room.near.ask(method, path, content, as: "bert:pw")
            #expect(answer.status == 401 && !answer.text.contains("hush"), "\(method) \(path): \(answer.status)")
        }
    }

    @Test func `the author of a document that was made anew sees no password of its former author`() throws {
        let client = try RouterClient.with(users: ["anna": [], "bert": []])
        #expect(try client.send("PUT", "/_replicator").status == 201)
        let security: JSONValue = ["admins": [:], "members": ["names": ["anna", "bert"]]]
        #expect(try client.send("PUT", "/_replicator/_security", security).status == 200)
        func order(_ password: String) -> JSONValue {
            // A failed replication is not started.
            [
                "source": .string("http://u:\(password)@far.example/a"), "target": "http://far.example/b",
                "_replication_state": "failed",
            ]
        }
        let path = "/_replicator/mine"
        let first = try client.send(as: "anna:pw", "PUT", path, order("hush1"))
        #expect(first.status == 201)
        let revision = try #require(first.json["rev"]?.string)
        #expect(try client.send(as: "anna:pw", "DELETE", "\(path)?rev=\(revision)").status == 200)
        #expect(try client.send(as: "bert:pw", "PUT", path, order("hush2")).status == 201)
        for query in ["rev=\(revision)", "open_revs=%5B%22\(revision)%22%5D", "rev=\(revision)&attachments=true"] {
            let former = try client.send(as: "bert:pw", "GET", "\(path)?\(query)")
            #expect(former.status == 200 && !former.text.contains("hush"), "\(query): \(former.text)")
            #expect(try client.send("GET", "\(path)?\(query)").text.contains("hush1"), "\(query)")
        }
        for query in ["", "?revs=true", "?open_revs=all"] {
            let own = try client.send(as: "bert:pw", "GET", "\(path)\(query)")
            #expect(own.text.contains("hush2") && !own.text.contains("hush1"), "\(query): \(own.text)")
        }
    }

    @Test(arguments: ["_replicator", "team/_replicator"])
    func `an administrator of the database writes no design document, one of the server does`(name: String) throws {
        let client = try RouterClient.with(users: ["anna": []])
        let path = "/" + name.replacing("/", with: "%2F")
        #expect(try client.send("PUT", path).status == 201)
        let security: JSONValue = ["admins": ["names": ["anna"]], "members": ["names": ["anna"]]]
        #expect(try client.send("PUT", "\(path)/_security", security).status == 200)
        let design: JSONValue = ["_id": "_design/spy"]
        #expect(try client.send(as: "anna:pw", "POST", path, design).status == 403)
        let rows = try client.send(as: "anna:pw", "POST", "\(path)/_bulk_docs", ["docs": [design]]).json
        #expect(rows[0]?["error"] == "forbidden")
        let brought: JSONValue = ["docs": [["_id": "_design/spy", "_rev": "1-a"]], "new_edits": false]
        #expect(try client.send(as: "anna:pw", "POST", "\(path)/_bulk_docs", brought).status == 403)
        for (method, place) in [
            ("PUT", "_design/spy"), ("PUT", "_design%2Fspy"), ("PUT", "_design/spy/file"), ("POST", "_import"),
            ("POST", "_settle/_design/spy"), ("POST", "_settle"), ("POST", "_index"), ("GET", "_blipsync"),
        ] {
            let answer = try client.send(as: "anna:pw", method, "\(path)/\(place)", [:])
            #expect(answer.status == 401 || answer.status == 403, "\(method) \(place): \(answer.status)")
        }
        #expect(try client.send("GET", "\(path)/_design/spy").status == 404)
        #expect(try client.send("POST", path, design).status == 201)
    }

    @Test(arguments: ["_replicator", "team/_replicator"])
    func `a member can't overwrite the local document with the paused replications`(name: String) throws {
        let client = try RouterClient.with(users: ["anna": []])
        let path = "/" + name.replacing("/", with: "%2F")
        #expect(try client.send("PUT", path).status == 201)
        let security: JSONValue = ["admins": ["names": ["anna"]], "members": ["names": ["anna"]]]
        #expect(try client.send("PUT", "\(path)/_security", security).status == 200)
        let id = JSONValue.string(StoredReplications.id.string)
        let paused: JSONValue = ["replications": ["mine": ["source": "http://far.example/a"]]]
        #expect(try client.send("PUT", "\(path)/\(StoredReplications.id)", paused).status == 201)
        let other: JSONValue = ["_id": id, "_rev": "0-1", "replications": [:]]
        let deletion: JSONValue = ["_id": id, "_rev": "0-1", "_deleted": true]
        for document in [other, deletion] {
            #expect(try client.send(as: "anna:pw", "POST", path, document).status == 403)
            let rows = try client.send(as: "anna:pw", "POST", "\(path)/_bulk_docs", ["docs": [document]]).json
            #expect(rows[0]?["error"] == "forbidden")
        }
        let stored = try client.send("GET", "\(path)/\(StoredReplications.id)").json
        #expect(stored["replications"] == paused["replications"])
        #expect(try client.send("POST", path, other).status == 201)
    }

    @Test func `no password is shown by the scheduler, or written to the log`() async throws {
        let lines = try LogRoom()
        let room = try await open { $0.log = try? lines.open(.text) }
        #expect(try await room.near.ask("PUT", "/_replicator/mine", body(room)).status == 201)
        await room.wait("mine", for: "crashing")
        for path in ["/_scheduler/jobs", "/_scheduler/docs", "/_scheduler/docs/_replicator/mine", "/_active_tasks"] {
            let answer = try await room.near.ask("GET", path)
            #expect(answer.status == 200 && !answer.text.contains("hush"))
        }
        #expect(!lines.text(containing: "a replication failed").contains("hush"))
    }

    @Test func `the query of a URL and unknown members of a side are shown to nobody else`() async throws {
        let lines = try LogRoom()
        let room = try await open { $0.log = try? lines.open(.text) }
        let (source, target) = (room.url(room.far, "a", "").string ?? "", room.url(room.far, "b", "").string ?? "")
        var body: JSONValue = [
            "source": .string(source + "?k=hush1#hush2"),
            "target": ["url": .string(target + "?k=hush3"), "key": "hush4", "headers": ["X-Key": "hush5"]],
            "continuous": true,
        ]
        #expect(try await room.near.ask("PUT", "/_replicator/mine", body, as: "anna:pw").status == 201)
        let other = try await room.near.ask("GET", "/_replicator/mine", as: "bert:pw")
        #expect(other.status == 200 && !other.text.contains("hush"), "\(other.text)")
        #expect(other.json["source"]?.string == source && other.json["target"] == ["url": .string(target)])
        #expect(try await room.near.ask("PUT", "/_replicator/his", body).status == 201)
        await room.wait("his", for: "crashing")
        // A replicated document may contain text that is not a URL; its query and credentials are hidden too.
        let brought: JSONValue = [
            "docs": [
                ["_id": "odd", "_rev": "1-a", "source": "a?k=hush6", "target": "anna:hush7@far.example/a"],
                [
                    "_id": "done", "_rev": "1-a", "source": "a?k=hush6", "target": "anna:hush7@far.example/a",
                    "_replication_state": "failed",
                ],
            ], "new_edits": false,
        ]
        #expect(try await room.near.ask("POST", "/_replicator/_bulk_docs", brought).json == [])
        await room.wait("odd", for: "failed")
        for name in ["odd", "done"] {
            let shown = try await room.near.ask("GET", "/_replicator/\(name)", as: "bert:pw")
            #expect(shown.status == 200 && !shown.text.contains("hush"), "\(shown.text)")
        }
        for path in [
            "/_scheduler/jobs", "/_scheduler/docs", "/_scheduler/docs/_replicator/his", "/_active_tasks",
            "/_scheduler/docs/_replicator/odd", "/_scheduler/docs/_replicator/done",
        ] {
            let answer = try await room.near.ask("GET", path)
            #expect(answer.status == 200 && !answer.text.contains("hush"), "\(answer.text)")
        }
        body["continuous"] = false
        let asked = try await room.near.ask("POST", "/_replicate", body)
        #expect(asked.status >= 400 && !asked.text.contains("hush"), "\(asked.text)")
        #expect(!lines.text(containing: " /_replicate ").contains("hush"))
    }

    @Test func `a user's replication can't reach this machine, an administrator's can`() async throws {
        let room = try await open()
        let fine = body(room, ["source": room.url(room.near, "a"), "target": room.url(room.far, "a")])
        #expect(try await room.near.ask("PUT", "/_replicator/hers", fine, as: "anna:pw").status == 201)
        await room.wait("hers", for: "failed")
        #expect(try await room.near.ask("PUT", "/_replicator/his", fine).status == 201)
        await room.wait("his", for: "running")
    }

    @Test func `hosts outside the allowed list are refused`() async throws {
        let room = try await ReplicatorRoom { $0.replicator.allowedHosts = ["*.example", "127.0.0.1:1"] }
        let answer = try await room.replicate()
        #expect(answer.status == 400 && answer.json["reason"]?.string?.contains("may replicate with") == true)
        let policy = TargetPolicy(ReplicatorOptions())
        #expect(policy.problem(with: try HTTPURL("http://localhost/a"), isAdmin: true) == nil)
        #expect(policy.problem(with: try HTTPURL("http://localhost/a"), isAdmin: false) != nil)
    }

    @Test(arguments: [.min, 0, .max] as [Int])
    func `a replicator with any limit of jobs has a client`(jobs: Int) throws {
        var options = ReplicatorOptions()
        options.jobs = jobs
        let document = try ReplicationDocument(["source": "http://127.0.0.1/a", "target": "http://127.0.0.1/b"])
        let client = try TargetPolicy(options).client(for: document, isAdmin: true)
        #expect(client.options.connectionsPerHost >= 16)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
    func `a client of the public network connects to no address of this machine`(_ host: String) async throws {
        let server = try LiveServer()
        var options = TransportOptions()
        options.refusesPrivateAddresses = true
        options.proxy = .direct
        let request = HTTPRequest("GET", try HTTPURL("http://\(host):\(server.port)/"))
        await #expect(throws: TransportError.self) { _ = try await DefaultTransport(options).send(request) }
    }

    @Test func `the options of a configuration are read, and errors refused`() async throws {
        let text = #"{"max_jobs": 3, "allowed_hosts": ["A.example"], "private_addresses": "nobody", "ca_file": "/x"}"#
        let options = try ReplicatorOptions(configuration: Array(text.utf8))
        #expect(options.jobs == 3 && options.allowedHosts == ["a.example"] && options.privateAddresses == .nobody)
        #expect(options.json["ca_file"] == "/x")
        #expect(throws: DatabaseError.self) { try ReplicatorOptions(configuration: Array(#"{"jobs": 3}"#.utf8)) }
    }
}
