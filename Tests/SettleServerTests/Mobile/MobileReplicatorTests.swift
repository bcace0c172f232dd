import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Replications of a server, and persistent ones of a database, with addresses of Couchbase Mobile's protocol.
@Suite(.timeLimit(.minutes(5))) struct MobileReplicatorTests {
    private func socket(
        _ server: LiveServer, _ path: String = "a", _ credentials: String = "admin:admin@"
    ) -> JSONValue { .string("ws://\(credentials)127.0.0.1:\(server.port)/\(path)") }

    @Test func `a request to _replicate pulls from such an address, and the next one finds nothing new`() async throws {
        let room = try await ReplicatorRoom()
        for number in 0..<300 { #expect(try await room.far.ask("PUT", "/a/d\(number)", ["n": 1]).status == 201) }
        let body: JSONObject = ["source": socket(room.far), "target": room.url(room.near, "a")]
        let first = try await room.near.ask("POST", "/_replicate", .object(body))
        #expect(first.status == 200 && first.json["history"]?[0]?["docs_written"] == 300, "\(first.text)")
        let (near, far) = (try await room.near.ask("GET", "/a/d7"), try await room.far.ask("GET", "/a/d7"))
        #expect(near.status == 200 && near.json["_rev"] == far.json["_rev"])
        let second = try await room.near.ask("POST", "/_replicate", .object(body))
        #expect(second.json["no_changes"] == true, "\(second.text)")
    }

    @Test func `the connections of replications that have ended are closed`() async throws {
        let room = try await ReplicatorRoom()
        for name in ["milk", "bread"] { #expect(try await room.near.ask("PUT", "/a/\(name)", ["n": 1]).status == 201) }
        let (here, there) = (room.url(room.near, "a"), socket(room.far))
        for _ in 0..<5 {
            for (source, target) in [(here, there), (there, here)] {
                let answer = try await room.near.ask("POST", "/_replicate", ["source": source, "target": target])
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        await eventually("all connections are closed") { room.far.server.load == (0, 0) }
        // An open WebSocket counts.
        let peer = try MobilePeer("ws://admin:admin@127.0.0.1:\(room.far.port)/a")
        _ = try await peer.connect()
        #expect(room.far.server.load.connections == 1)
        await peer.close()
        await eventually("all connections are closed") { room.far.server.load == (0, 0) }
    }

    @Test func `a document of _replicator keeps pushing to a collection, and shows no password`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.far.ask("PUT", "/a%2Binventory%2Bfood").status == 201)
        let target: JSONValue = [
            "url": socket(room.far, "a", ""), "collection": "inventory.food",
            "auth": ["basic": ["username": "admin", "password": "admin"]],
        ]
        #expect(try await room.order("on", ["target": target, "continuous": true]).status == 201)
        await room.wait("on", for: "running")
        #expect(try await room.near.ask("PUT", "/a/milk", ["n": 1]).status == 201)
        await room.far.wait(for: "/a%2Binventory%2Bfood/milk")
        #expect(try await !room.far.has("/a/milk"))
        let row = try await room.near.ask("GET", "/_scheduler/docs/_replicator/on").json
        #expect(row["target"]?.string == "ws://127.0.0.1:\(room.far.port)/a#inventory.food")
        let task = try await room.near.ask("GET", "/_active_tasks").json[0]
        #expect(task?["target"]?.string == "ws://127.0.0.1:\(room.far.port)/a#inventory.food", "\(task ?? .null)")
    }

    @Test func `what is missing or refused is named with the address`() async throws {
        let room = try await ReplicatorRoom()
        let target = room.url(room.near, "a")
        for (source, status, words) in [
            (socket(room.far, "none"), 404, "could not open ws://127.0.0.1:\(room.far.port)/none/"),
            (socket(room.far, "a", "admin:hush@"), 401, "unauthorized to access"),
            (["url": room.url(room.far, "a"), "collection": "x.y"], 400, "`collection` of `source` needs"),
        ] as [(JSONValue, Int, String)] {
            let answer = try await room.near.ask("POST", "/_replicate", ["source": source, "target": target])
            #expect(answer.status == status && answer.text.contains(words), "\(answer.status) \(answer.text)")
            #expect(!answer.text.contains("hush"))
        }
        let made = try await room.near.ask(
            "POST", "/_replicate", ["source": target, "target": socket(room.far, "none"), "create_target": true])
        #expect(made.status == 404 && made.text.contains("could not open"), "\(made.status) \(made.text)")
        let filtered = try await room.near.ask(
            "POST", "/_replicate", ["source": socket(room.far), "target": target, "selector": ["n": 1]])
        #expect(filtered.status == 400 && filtered.text.contains("not by a selector"), "\(filtered.text)")
    }

    @Test func `the hosts that replications may reach are the same`() async throws {
        let room = try await ReplicatorRoom { $0.replicator.allowedHosts = ["*.example"] }
        let body: JSONValue = ["source": socket(room.far), "target": "http://x.example/a"]
        let answer = try await room.near.ask("POST", "/_replicate", body)
        #expect(answer.status == 400 && answer.text.contains("may replicate with"), "\(answer.text)")
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]"])
    func `a client of the public network opens no WebSocket to this machine`(_ host: String) async throws {
        let live = try LiveServer()
        #expect(try await live.ask("PUT", "/a").status == 201)
        var options = TransportOptions()
        options.proxy = .direct
        let address = "ws://admin:admin@\(host):\(live.port)/a"
        if host == "127.0.0.1" { _ = try await MobilePeer(address, options: options).connect() }
        options.refusesPrivateAddresses = true
        await #expect(throws: PeerError.self) { _ = try await MobilePeer(address, options: options).connect() }
    }

    @Test func `a persistent replication is resumed with its collection, and its password can be renewed`()
        async throws
    {
        // SEMANTICS 94, 95, 138
        let live = try LiveServer()
        for name in ["a", "a%2Bshop%2Bfood"] { #expect(try await live.ask("PUT", "/\(name)").status == 201) }
        let folder = try TemporaryFolder()
        func open() throws -> Database { try Database.openOrCreate(folder("notes.settle")) }
        var notes = try open()
        let peer = try MobilePeer("ws://admin:admin@127.0.0.1:\(live.port)/a", collection: "shop.food")
        var configuration = ReplicationConfiguration.push(notes, to: peer)
        configuration.isContinuous = true
        let push = try await notes.replications.replicator(configuration)
        let name = try await notes.replications.persist(push, storesCredentials: true)
        notes.close()

        notes = try open()
        try notes.save(Document(id: "milk", body: ["n": 1]))
        let resumed = try await notes.replications.resume()
        #expect(resumed.map(\.configuration.target.name) == ["ws://127.0.0.1:\(live.port)/a#shop.food"])
        await live.wait(for: "/a%2Bshop%2Bfood/milk")
        await #expect(throws: PeerError.self) {
            try await notes.replications.renewPersistent(name, .basic(user: "other", password: "x"))
        }
        try await notes.replications.renewPersistent(name, .basic(user: "admin", password: "renewed"))
        for replicator in resumed { await replicator.suspend() }
        notes.close()

        notes = try open()
        let again = try await notes.replications.resume()
        #expect(again.count == 1)
        // The server does not know the new password.
        for await status in try #require(again.first).statuses where status.error != nil {
            #expect(status.error?.code == .unauthorized)
            break
        }
        notes.close()
    }
}
