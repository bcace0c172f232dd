import Foundation
import Settle
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettleReplication

/// How a session works automatically through temporary obstacles.
@Suite(.timeLimit(.minutes(5))) struct OfflineSessionWatchTests {
    private func session(_ world: OfflineWorld, _ client: BrokenClient) throws -> OfflineSession {
        var options = OfflineSessionOptions()
        options.stampAttribute = "updatedat"
        options.retry.firstDelay = .milliseconds(1)
        return try OfflineSession(world.database, server: CouchDBPeer(world.url, client: client), options: options)
    }

    @Test func `after a decision changes are sent automatically again`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        try world.set("1", "name", "mine")
        let statuses = world.session.statuses
        world.session.start()
        for await status in statuses where status.state == .syncFailed { break }
        try await world.session.discard()
        #expect(try await world.session.goOnline().state == .online)
        try world.set("1", "name", "later")
        for try await changes in world.session.journal.observePending() where changes.isEmpty { break }
        #expect(try await world.server() == ["1 later 9:00 false"])
        await world.session.stop()
    }

    @Test func `a server that fails whenever it is asked to wait is asked less and less often`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        client.failsWaits = true
        let session = try session(world, client)
        session.start()
        // The delay depends on the failures alone; the server is reached after each.
        await eventually("the failures count") { session.failures.withLock { $0 } > 3 }
        client.failsWaits = false
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        await eventually("a wait that succeeds ends them") { session.failures.withLock { $0 } == 0 }
        await session.stop()
    }

    @Test func `a refusal by a server that is reachable again is reported`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        client.isBroken = true
        #expect(try await session.goOnline().state == .offline)
        _ = try await world.remote.json("DELETE", "")
        let statuses = session.statuses
        session.start()
        client.isBroken = false
        session.networkChanged()
        for await status in statuses where status.state == .syncFailed {
            #expect(status.error?.code == .notFound)
            break
        }
        #expect(session.status.state == .syncFailed)
        await session.stop()
    }

    @Test func `a refusal by the database that no caller waits for is warned about`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        client.isBroken = true
        try world.set("1", "name", "mine")
        #expect(try await session.goOnline().state == .offline)
        // The server's time makes another revision, which is refused here.
        world.database.addValidation("no times") { context in
            if context.newRevision["updatedat"] != "9:00" { throw Refusal() }
        }
        let statuses = session.statuses
        session.start()
        client.isBroken = false
        session.networkChanged()
        for await status in statuses where status.state == .syncFailed { break }
        await session.stop()
        #expect(world.warnings.contains { $0.contains("could not go on") && $0.contains("no times") })
    }

    private struct Refusal: Error {}

    @Test func `a session synchronizes again without a call after a suspension of its database`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let folder = try TemporaryFolder()
        var databaseOptions = DatabaseOptions()
        databaseOptions.journal = true
        let database = try Database.openOrCreate(folder("notes.settle"), options: databaseOptions)
        defer { database.close() }
        var options = OfflineSessionOptions()
        options.retry.firstDelay = .milliseconds(1)
        options.retry.maximumDelay = .milliseconds(20)
        let session = try OfflineSession(database, server: world.peer, options: options)
        try database.suspend()
        let error = await #expect(throws: DatabaseError.self) { try await session.goOnline() }
        #expect(error?.code == .suspended)
        try #require(session.status.state == .offline)
        #expect(session.status.error?.isTransient == true)
        session.start()
        try database.resume()
        for await status in session.statuses where status.state == .online { break }
        #expect(try database.document("1")?["name"] == "item1")
        await session.stop()
    }

    @Test func `a started session ends its work with an error when its database is closed`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let requests = Guarded(0)
        let client = TellingClient(client: DefaultTransport()) { _ in requests.withLock { $0 += 1 } }
        let session = try OfflineSession(world.database, server: CouchDBPeer(world.url, client: client))
        session.start()
        await eventually("it waits for changes") { requests.withLock { $0 } == 1 }
        world.database.close()
        await eventually("it has ended") { session.status.state == .syncFailed }
        #expect(session.status.error?.message.contains("closed") == true)
        #expect(requests.withLock { $0 } == 1)
        await session.stop()
    }

    @Test(arguments: [OfflineState.offline, .syncFailed])
    func `a session that waits for a call ends its work when its database is closed`(state: OfflineState) async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        if state == .offline {
            await world.session.goOffline()
        } else {
            try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
            try world.set("1", "name", "mine")
            try await world.session.goOnline()
        }
        #expect(world.session.status.state == state)
        world.session.start()
        await eventually("it waits for a call") { world.session.bell.waiterCount == 1 }
        world.database.close()
        await eventually("it has ended") { world.session.bell.waiterCount == 0 }
        await world.session.stop()
    }

    @Test func `a listener that comes during a change gets it, or begins with it`() async throws {
        let world = try await OfflineWorld(.settle)
        for _ in 0..<200 {
            let session = try OfflineSession(world.database, server: world.peer)
            async let change: Void = session.goOffline()
            for await status in session.statuses where status.state == .offline { break }
            await change
        }
    }

    @Test func `the time of the last fetch persists`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        world.time(9, 10)
        try await world.session.fetch()
        let again = try OfflineSession(world.database, server: world.peer)
        #expect(again.status.lastSyncDate == Date(milliseconds: 33_000_000))
    }

    @Test func `a state that could not be stored is not assumed either`() async throws {
        let world = try await OfflineWorld(.settle) { $0.identifiers = .server }
        try await world.begin()
        let records = try #require(
            try world.database.localDocuments().first { $0.id.string.contains("offline-session") })
        // No revision can follow this one.
        try world.database.engine.hold { writer in
            try writer.put(LocalDocument(id: records.id, revisionNumber: .max, body: records.body))
        }
        let error = #expect(throws: DatabaseError.self) { try world.session.create(["name": "lost"]) }
        #expect(error?.code == .corrupt)
        #expect(try world.database.document("t_1") == nil)
        try world.database.deleteLocalDocument(records.id)
        #expect(try world.session.create(["name": "kept"]).id == "t_1")
    }
}
