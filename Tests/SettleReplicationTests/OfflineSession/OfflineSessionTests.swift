import Settle
import SettleDatabase
import SettleReplication
import Testing

@Suite(.timeLimit(.minutes(5))) struct OfflineSessionTests {
    // SEMANTICS 170
    @Test(arguments: ServerKind.all)
    func `what is changed online goes to the server by itself`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        let statuses = world.session.statuses
        world.session.start()
        try world.set("1", "name", "item1_1")
        for await status in statuses where status.state == .online && world.session.status.state == .online {
            if try await world.server() == ["1 item1_1 9:00 false"] { break }
        }
        #expect(try world.history() == [])
        await world.session.stop()
    }

    // SEMANTICS 176, 179
    @Test(arguments: ServerKind.all)
    func `operations are sent in order, and none behind a refused one`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.database.save(Document(id: "before", body: ["name": "b"]), onConflict: .fail)
        try world.set("1", "name", "mine")
        try world.database.save(Document(id: "behind", body: ["name": "c"]), onConflict: .fail)
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(try await world.server() == ["1 theirs 9:01 false", "before b 9:00 false"])
        #expect(try world.history() == ["UPDATE 1 item1 mine", "CREATE behind - c"])
        try await world.session.discard()
        #expect(try await world.session.retry().state == .online)
        #expect(try await world.server() == ["1 theirs 9:01 false", "before b 9:00 false", "behind c 9:00 false"])
        #expect(try world.client() == ["1 theirs 9:01", "before b 9:00", "behind c 9:00"])
    }

    // SEMANTICS 167
    @Test func `what depends on a refused document waits`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        try world.database.save(Document(id: "envelope", body: ["name": "mine"]), onConflict: .fail)
        try world.database.save(
            Document(id: "transfer", body: ["name": "t", "envelope": "envelope"]), onConflict: .fail)
        try await world.write("envelope", ["name": "theirs"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.operation == .create)
        #expect(world.session.status.conflict?.old == nil)
        #expect(try await !world.server().contains { $0.hasPrefix("transfer") })
        try await world.session.replace(with: ["name": "ours"])
        #expect(try await world.session.retry().state == .online)
        #expect(try await world.server().map { $0.split(separator: " ")[1] } == ["item1", "ours", "t"])
    }

    // SEMANTICS 177
    @Test(arguments: ServerKind.all)
    func `by the switch, changes of other members are no conflict`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind) { $0.acceptance = .unchangedAttributes }
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try world.set("1", "name", "mine, too")
        try await world.write("1", ["name": "item1", "count": 7, "updatedat": "9:05"])
        world.time(9, 10)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 mine, too 9:10 false"])
        #expect(try world.database.document("1")?["count"] == 7)
        await world.session.goOffline()
        try world.set("1", "name", "mine again")
        try await world.write("1", ["name": "theirs", "count": 8])
        #expect(try await world.session.goOnline().state == .syncFailed)
    }

    // SEMANTICS 188, 189
    @Test(arguments: ServerKind.all)
    func `temporary ids become the server's, in references too`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind) { $0.identifiers = .server }
        try await world.begin()
        await world.session.goOffline()
        let first = try world.session.create(["name": "envelope"])
        let second = try world.session.create(["name": "other"])
        #expect([first.id, second.id] == ["t_1", "t_2"])
        #expect(try world.history() == ["CREATE t_1 - envelope", "CREATE t_2 - other"])
        #expect(try world.client() == ["1 item1 9:00", "t_1 envelope -", "t_2 other -"])
        try world.set("1", "envelopes", ["t_1", ["in": "t_2"], "t_11"])
        try world.set("t_1", "next", "t_2")
        try await world.session.revert(second.id)
        let third = try world.session.create(["name": "third"])
        #expect(third.id == "t_3")
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.history() == [])
        let rows = try world.client()
        #expect(rows.map { $0.split(separator: " ")[1] }.sorted() == ["envelope", "item1", "third"])
        #expect(rows.allSatisfy { !$0.hasPrefix("t_") })
        #expect(try await world.server() == rows.map { "\($0) false" })
        let id = try #require(rows.first { $0.contains("envelope") }?.split(separator: " ").first)
        let one = try await world.remote.json("GET", "1").json
        #expect(one["envelopes"]?[0]?.string == String(id))
        #expect(one["envelopes"]?[2] == "t_11")
        #expect(try world.database.verify().problems == [])
    }

    // SEMANTICS 150, 152
    @Test func `what was made and deleted offline is never sent`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        let made = try world.database.save(Document(id: "gone", body: ["name": "g"]), onConflict: .fail)
        try world.database.delete(made, onConflict: .fail)
        #expect(try await world.session.goOnline().state == .online)
        #expect(world.session.status.conflict == nil)
        await #expect(throws: CouchDBError.self) { try await world.remote.json("GET", "gone") }
        #expect(try world.history() == [])
    }

    // SEMANTICS 174, 197
    @Test(arguments: ServerKind.all)
    func `several operations on one document follow one another`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind) { $0.stampMember = nil }
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "a")
        try world.set("1", "name", "b")
        try world.database.delete("1")
        try world.database.save(Document(id: "1", body: ["name": "c"]), onConflict: .fail)
        #expect(
            try world.history() == ["UPDATE 1 item1 a", "UPDATE 1 a b", "DELETE 1 b -", "CREATE 1 - c"])
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 c - false"])
        #expect(try world.client() == ["1 c -"])
        let local = try #require(try world.database.document("1")?.revision)
        #expect(try await world.remote.json("GET", "1").json["_rev"]?.string == local.description)
    }

    @Test(arguments: ServerKind.all)
    func `a deletion is refused when the document was changed there`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.database.delete("1")
        try await world.write("1", ["name": "changed", "updatedat": "9:05"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        let conflict = try #require(world.session.status.conflict)
        #expect(conflict.operation == .delete && conflict.new == nil)
        try await world.session.replace(with: nil)
        #expect(try await world.session.retry().state == .online)
        #expect(try await world.server() == [])
        #expect(try world.client() == [])
    }

    @Test(arguments: ServerKind.all)
    func `an update of what was deleted there is a conflict without the server's side`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        let revision = try #require(try await world.remote.json("GET", "1").json["_rev"]?.string)
        _ = try await world.remote.json("DELETE", "1", query: ["rev": revision])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.server == nil)
        try await world.session.replace(with: ["name": "mine"])
        world.time(9, 20)
        #expect(try await world.session.retry().state == .online)
        #expect(try await world.server() == ["1 mine 9:20 false"])
        #expect(try world.client() == ["1 mine 9:20"])
    }

    @Test(arguments: ServerKind.all)
    func `attachments go along`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        var document = try #require(try world.database.document("1"))
        document.attach(try world.database.makeAttachment("a.bin", content: [1, 2, 3]))
        try world.database.save(document, onConflict: .fail)
        #expect(try await world.session.goOnline().state == .online)
        try world.set("1", "name", "later")
        #expect(try await world.session.goOnline().state == .online)
        let stub = try await world.remote.json("GET", "1").json["_attachments"]?["a.bin"]
        #expect(stub?["length"] == 3)
        let kept = try #require(try world.database.document("1")?.attachments.first)
        #expect(try world.database.content(of: kept) == [1, 2, 3])
    }

    @Test func `a session remembers after a restart what it has decided`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "theirs"])
        try await world.session.goOnline()
        try await world.session.replace(with: ["name": "both"])
        var options = OfflineSessionOptions()
        options.startsOnline = false
        let again = try OfflineSession(world.database, server: world.peer, options: options)
        #expect(again.status.lastSyncDate == Int64(32_400_000))
        #expect(again.status.state == .offline)
        #expect(try await again.goOnline().state == .online)
        #expect(try await world.server() == ["1 both - false"])
    }

    @Test func `a database without a journal has no session`() throws {
        let database = try Database.inMemory()
        let peer = try CouchDBPeer(HTTPURL("http://127.0.0.1:1/a"))
        let error = #expect(throws: DatabaseError.self) { try OfflineSession(database, server: peer) }
        #expect(error?.code == .invalid)
    }

    @Test func `a server that is not reached makes the session offline, and it comes back by itself`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let gate = BrokenClient(CurlHTTPClient())
        let peer = try CouchDBPeer(world.url, client: gate)
        var options = OfflineSessionOptions()
        options.retry.firstDelay = .milliseconds(1)
        let session = try OfflineSession(world.database, server: peer, options: options)
        #expect(try await session.goOnline().state == .online)
        gate.isBroken = true
        try world.set("1", "name", "mine")
        let status = try await session.goOnline()
        #expect(status.state == .offline)
        #expect(status.error?.code == .unreachable)
        #expect(try world.history() == ["UPDATE 1 item1 mine"])
        let statuses = session.statuses
        session.start()
        gate.isBroken = false
        session.networkChanged()
        for await status in statuses where status.state == .online { break }
        #expect(try world.history() == [])
        await session.stop()
    }
}
