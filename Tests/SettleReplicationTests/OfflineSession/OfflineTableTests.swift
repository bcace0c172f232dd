import Settle
import SettleDatabase
import SettleReplication
import Testing

/// The tables of the reference, cell by cell, over real HTTP, with a clock that is set by hand.
@Suite(.timeLimit(.minutes(5))) struct OfflineTableTests {
    /// Up to the failed synchronization at 9:10.
    private func failed(_ kind: ServerKind) async throws -> OfflineWorld {
        let world = try await OfflineWorld(kind) { $0.fetchesAfterPush = false }
        try await world.write("1", ["name": "item1", "updatedat": "9:00"])
        try await world.session.fetch()
        // SEMANTICS 169, 172
        try await world.expect(
            "Client (9:00) ONLINE", history: [], client: ["1 item1 9:00"], server: ["1 item1 9:00 false"])
        // SEMANTICS 173
        await world.session.goOffline()
        try await world.expect(
            "Client (9:00) OFFLINE", history: [], client: ["1 item1 9:00"], server: ["1 item1 9:00 false"])
        // SEMANTICS 171, 174
        try world.set("1", "name", "item1_1")
        try await world.expect(
            "Client (9:00) OFFLINE", history: ["UPDATE 1 item1 item1_1"], client: ["1 item1_1 9:00"],
            server: ["1 item1 9:00 false"])
        // SEMANTICS 175
        world.time(9, 10)
        try await world.write("1", ["name": "item1_2", "updatedat": "9:10"])
        try await world.expect(
            "Client (9:00) OFFLINE", history: ["UPDATE 1 item1 item1_1"], client: ["1 item1_1 9:00"],
            server: ["1 item1_2 9:10 false"])
        // SEMANTICS 177, 178
        try await world.session.goOnline()
        try await world.expect(
            "Client (9:00) SYNC FAILED", history: ["UPDATE 1 item1 item1_1"], client: ["1 item1_1 9:00"],
            server: ["1 item1_2 9:10 false"])
        // SEMANTICS 180
        let conflict = try #require(world.session.status.conflict)
        #expect(conflict.operation == .update)
        #expect(conflict.old?.body["name"] == "item1")
        #expect(conflict.new?.body["name"] == "item1_1")
        #expect(conflict.server?["name"] == "item1_2")
        #expect(conflict.reason == .changed)
        return world
    }

    // SEMANTICS 178, 181, 182
    @Test(arguments: ServerKind.all)
    func `a conflict is removed, and the server's value is fetched`(kind: ServerKind) async throws {
        let world = try await failed(kind)
        try await world.session.discard()
        try await world.expect(
            "Client (9:00) SYNC FAILED", history: [], client: ["1 item1 9:00"], server: ["1 item1_2 9:10 false"])
        #expect(world.session.status.conflict == nil)
        try await world.session.goOnline()
        try await world.expect(
            "Client (9:00) ONLINE", history: [], client: ["1 item1 9:00"], server: ["1 item1_2 9:10 false"])
        try await world.session.fetch()
        try await world.expect(
            "Client (9:10) ONLINE", history: [], client: ["1 item1_2 9:10"], server: ["1 item1_2 9:10 false"])
    }

    /// Up to the accepted retry at 9:20.
    private func updated(_ kind: ServerKind) async throws -> OfflineWorld {
        let world = try await failed(kind)
        // SEMANTICS 183
        var body = try #require(world.session.status.conflict?.new?.body.json)
        body["name"] = "item1_3"
        try await world.session.replace(with: DocumentBody(body))
        try await world.expect(
            "Client (9:00) SYNC FAILED", history: ["UPDATE 1 item1 item1_3"], client: ["1 item1_3 9:00"],
            server: ["1 item1_2 9:10 false"])
        // SEMANTICS 184, 185
        world.time(9, 20)
        try await world.session.goOnline()
        try await world.expect(
            "Client (9:20) ONLINE", history: [], client: ["1 item1_3 9:20"], server: ["1 item1_3 9:20 false"])
        return world
    }

    // SEMANTICS 183, 184, 185
    @Test(arguments: ServerKind.all)
    func `a conflict is updated, and the server accepts it`(kind: ServerKind) async throws {
        let world = try await updated(kind)
        world.time(9, 30)
        try await world.session.fetch()
        try await world.expect(
            "Client (9:30) ONLINE", history: [], client: ["1 item1_3 9:20"], server: ["1 item1_3 9:20 false"])
    }

    // SEMANTICS 186
    @Test(arguments: ServerKind.all)
    func `a server that changed again before the retry refuses again`(kind: ServerKind) async throws {
        let world = try await failed(kind)
        try await world.session.replace(with: ["name": "item1_3", "updatedat": "9:00"])
        try await world.write("1", ["name": "item1_5", "updatedat": "9:15"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.server?["name"] == "item1_5")
        #expect(world.session.status.conflict?.new?.body["name"] == "item1_3")
        try await world.session.replace(with: ["name": "item1_6"])
        world.time(9, 20)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 item1_6 9:20 false"])
    }

    // SEMANTICS 187, 188, 190, 191, 192, 193
    @Test(arguments: ServerKind.all)
    func `all changes are reverted, the most recent first`(kind: ServerKind) async throws {
        let world = try await updated(kind)
        let server = ["1 item1_3 9:20 false"]
        await world.session.goOffline()
        try await world.expect("Client (9:20) OFFLINE", history: [], client: ["1 item1_3 9:20"], server: server)
        var created = Document(id: "t_1")
        created["name"] = "item2"
        created = try world.database.save(created, onConflict: .fail)
        let create = "CREATE t_1 - item2"
        try await world.expect(
            "Client (9:20) OFFLINE", history: [create], client: ["1 item1_3 9:20", "t_1 item2 -"], server: server)
        try world.set("1", "name", "item1_4")
        let update = "UPDATE 1 item1_3 item1_4"
        try await world.expect(
            "Client (9:20) OFFLINE", history: [create, update], client: ["1 item1_4 9:20", "t_1 item2 -"],
            server: server)
        try world.database.delete(created, onConflict: .fail)
        try await world.expect(
            "Client (9:20) OFFLINE", history: [create, update, "DELETE t_1 item2 -"], client: ["1 item1_4 9:20"],
            server: server)
        try await world.session.revert()
        try await world.expect(
            "Client (9:20) OFFLINE", history: [create, update], client: ["1 item1_4 9:20", "t_1 item2 -"],
            server: server)
        try await world.session.revert()
        try await world.expect(
            "Client (9:20) OFFLINE", history: [create], client: ["1 item1_3 9:20", "t_1 item2 -"], server: server)
        try await world.session.revert()
        try await world.expect("Client (9:20) OFFLINE", history: [], client: ["1 item1_3 9:20"], server: server)
        try await world.session.goOnline()
        try await world.expect("Client (9:20) ONLINE", history: [], client: ["1 item1_3 9:20"], server: server)
    }

    // SEMANTICS 195
    @Test(arguments: ServerKind.all)
    func `reverting the refused operation clears the conflict`(kind: ServerKind) async throws {
        let world = try await failed(kind)
        #expect(try await world.session.revertAll().count == 1)
        #expect(world.session.status.conflict == nil)
        #expect(world.session.status.state == .syncFailed)
        try await world.expect(
            "Client (9:00) SYNC FAILED", history: [], client: ["1 item1 9:00"], server: ["1 item1_2 9:10 false"])
        try await world.session.goOnline()
        try await world.session.fetch()
        #expect(try world.client() == ["1 item1_2 9:10"])
    }

    // SEMANTICS 196, K15
    @Test(arguments: ServerKind.all)
    func `erasing removes the history and the documents, and the server's are fetched again`(
        kind: ServerKind
    ) async throws {
        let world = try await failed(kind)
        try await world.session.eraseLocal()
        #expect(try world.history() == [])
        #expect(try world.client() == [])
        #expect(world.session.status.lastSyncDate == nil)
        try await world.session.fetch()
        try await world.expect(
            "Client (9:10) OFFLINE", history: [], client: ["1 item1_2 9:10"], server: ["1 item1_2 9:10 false"])
    }
}
