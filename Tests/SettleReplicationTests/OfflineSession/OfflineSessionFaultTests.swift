import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

/// Failures between a session, its server and its database.
@Suite(.timeLimit(.minutes(5))) struct OfflineSessionFaultTests {
    private func session(_ world: OfflineWorld, _ client: BrokenClient) throws -> OfflineSession {
        var options = OfflineSessionOptions()
        options.retry.firstDelay = .milliseconds(1)
        return try OfflineSession(
            world.database, server: CouchDBPeer(world.url, client: client), options: options)
    }

    @Test func `a server that refuses the feed ends the watching, and the error is reported`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        _ = try await world.remote.json("DELETE", "")
        let statuses = world.session.statuses
        world.session.start()
        for await status in statuses where status.state == .syncFailed {
            #expect(status.error?.code == .notFound)
            break
        }
        await world.session.stop()
    }

    @Test func `a session resumes after its database could not store what the server has`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let refuses = Guarded(true)
        world.database.addValidation("not yet") { context in
            if refuses.withLock({ $0 }), context.newRevision["updatedat"] != "9:00" { throw Refusal() }
        }
        try await world.write("1", ["name": "theirs", "updatedat": "9:05"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.error != nil)
        refuses.withLock { $0 = false }
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.client() == ["1 theirs 9:05"])
        // Nor can it store the server's result of an operation of this client.
        refuses.withLock { $0 = true }
        try world.set("1", "updatedat", "9:00")
        world.time(9, 10)
        let error = await #expect(throws: DatabaseError.self) { try await world.session.goOnline() }
        #expect(error?.code == .refused)
        #expect(world.session.status.state == .syncFailed)
        refuses.withLock { $0 = false }
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.client() == ["1 theirs 9:10"])
        #expect(try world.history() == [])
    }

    private struct Refusal: Error {}

    // SEMANTICS 185
    @Test func `a decision counts for its operation and for no other`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        try await world.session.replace(with: ["name": "both", "updatedat": "9:00"])
        // The app undoes it without the session, and edits the earlier content.
        try world.database.journal?.undo()
        try world.set("1", "name", "later")
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.server?["name"] == "theirs")
        #expect(try await world.server() == ["1 theirs 9:01 false"])
    }

    @Test func `an operation that was undone meanwhile can't be replaced`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        try world.database.journal?.undo()
        let error = await #expect(throws: DatabaseError.self) {
            try await world.session.replace(with: ["name": "both"])
        }
        #expect(error?.code == .notFound)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.client() == ["1 theirs 9:01"])
    }

    @Test(arguments: ServerKind.all)
    func `an operation whose answer was lost is no conflict when others edit its result`(kind: ServerKind) async throws
    {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        client.losesAnswers = true
        try world.set("1", "name", "mine")
        #expect(try await session.goOnline().state == .offline)
        client.losesAnswers = false
        #expect(try await world.server() == ["1 mine 9:00 false"])
        try await world.write("1", ["name": "theirs", "updatedat": "9:05"])
        #expect(try await session.goOnline().state == .online)
        #expect(try world.client() == ["1 theirs 9:05"])
        #expect(try world.history() == [])
    }

    @Test(arguments: ServerKind.all, ["text/plain", "application/octet-stream"])
    func `an operation with an attachment whose answer was lost is no conflict`(
        kind: ServerKind, type: String
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        var document = try #require(try world.database.document("1"))
        let content = Array("compress me ".utf8) + Array(repeating: 65, count: 500)
        document.attach(try world.database.makeAttachment("a", contentType: type, content: content))
        try world.database.save(document, onConflict: .fail)
        client.losesAnswers = true
        #expect(try await session.goOnline().state == .offline)
        client.losesAnswers = false
        #expect(try await session.goOnline().state == .online)
        #expect(try world.history() == [])
        let kept = try #require(try world.database.document("1")?.attachments.first)
        #expect(try world.database.content(of: kept) == content)
    }

    @Test(arguments: ServerKind.all)
    func `a document that is deleted after the answer to its creation was lost is deleted on the server, too`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        let made = try world.database.save(Document(id: "gone", body: ["name": "g"]), onConflict: .fail)
        client.losesAnswers = true
        #expect(try await session.goOnline().state == .offline)
        client.losesAnswers = false
        #expect(try await world.server() == ["1 item1 9:00 false", "gone g - false"])
        try world.database.delete(made, onConflict: .fail)
        #expect(try await session.goOnline().state == .online)
        #expect(try await world.server() == ["1 item1 9:00 false"])
        #expect(try world.client() == ["1 item1 9:00"])
        #expect(try world.history() == [])
    }

    @Test(arguments: ServerKind.all, [false, true])
    func `a create that is undone after its answer was lost is undone on the server, too`(
        kind: ServerKind, isStamped: Bool
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        var options = OfflineSessionOptions()
        if isStamped { options.stampAttribute = "updatedat" }
        let session = try OfflineSession(
            world.database, server: CouchDBPeer(world.url, client: client), options: options)
        try world.database.save(Document(id: "gone", body: ["name": "g"]), onConflict: .fail)
        client.losesAnswers = true
        #expect(try await session.goOnline().state == .offline)
        client.losesAnswers = false
        #expect(try await world.server().count == 2)
        try await session.revert("gone")
        // A fetch alone does not bring it back.
        try await session.fetch()
        #expect(try world.client() == ["1 item1 9:00"])
        #expect(try await session.goOnline().state == .online)
        #expect(try await world.server() == ["1 item1 9:00 false"])
        #expect(try world.client() == ["1 item1 9:00"])
        #expect(try world.history() == [])
    }

    @Test func `after a restart, a new document is not taken for the undone one whose answer was lost`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let peer = try CouchDBPeer(world.url, client: client)
        let folder = try TemporaryFolder()
        var options = DatabaseOptions()
        options.journal = true
        let first = try Database.openOrCreate(folder("notes.settle"), options: options)
        defer { first.close() }
        let session = try OfflineSession(first, server: peer)
        try first.save(Document(id: "2", body: ["name": "first"]), onConflict: .fail)
        client.losesAnswers = true
        #expect(try await session.goOnline().state == .offline)
        client.losesAnswers = false
        #expect(try await world.server() == ["1 item1 9:00 false", "2 first - false"])
        try await session.revert("2")
        first.close()
        let second = try Database.openOrCreate(folder("notes.settle"), options: options)
        defer { second.close() }
        let again = try OfflineSession(second, server: peer)
        try second.save(Document(id: "2", body: ["name": "second"]), onConflict: .fail)
        #expect(try await again.goOnline().state == .online)
        #expect(try await world.server() == ["1 item1 9:00 false", "2 second - false"])
        #expect(try second.journal?.history().isEmpty == true)
    }

    @Test func `a refused document that is deleted here is not sent again`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        let made = try world.database.save(Document(id: "2", body: ["name": "mine"]), onConflict: .fail)
        try await world.write("2", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        try world.database.delete(made, onConflict: .fail)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 item1 9:00 false", "2 theirs 9:01 false"])
    }

    @Test func `by the switch, a merged operation whose answer was lost is no conflict`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        var options = OfflineSessionOptions()
        options.acceptance = .unchangedAttributes
        let session = try OfflineSession(
            world.database, server: CouchDBPeer(world.url, client: client), options: options)
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "item1", "count": 7, "updatedat": "9:00"])
        client.losesAnswers = true
        #expect(try await session.goOnline().state == .offline)
        client.losesAnswers = false
        #expect(try await session.goOnline().state == .online)
        #expect(try world.database.document("1")?["count"] == 7)
        #expect(try world.client() == ["1 mine 9:00"])
    }

    @Test func `going offline cancels a hanging request, also with more waiting`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        client.hangs = true
        let statuses = session.statuses
        let online = Task { try await session.goOnline() }
        for await status in statuses where status.state == .synchronizing { break }
        let fetch = Task { try await session.fetch() }
        await session.goOffline()
        _ = await online.result
        // Whether the fetch started before or after the first call, the second one ends it.
        await session.goOffline()
        fetch.cancel()
        client.hangs = false
        await session.goOffline()
        _ = await fetch.result
        #expect(session.status.state == .offline)
        #expect(try await session.goOnline().state == .online)
    }

    @Test func `a session that goes offline stays so, though a call to go online waits for its turn`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        client.hangs = true
        let statuses = session.statuses
        let first = Task { try await session.goOnline() }
        for await status in statuses where status.state == .synchronizing { break }
        let hasEnded = Guarded(false)
        let second = Task {
            defer { hasEnded.withLock { $0 = true } }
            return try await session.goOnline()
        }
        // Nothing reports that it waits. It does by now, and if not, it is cancelled a little later.
        for _ in 0..<10 { await Task.yield() }
        while !hasEnded.withLock({ $0 }), !Task.isCancelled {
            await session.goOffline()
            #expect(session.status.state != .syncFailed)
            await Task.yield()
        }
        _ = (await first.result, await second.result)
        #expect(session.status.state == .offline && session.status.error == nil)
        client.hangs = false
        #expect(try await session.goOnline().state == .online)
    }

    @Test func `erasing leaves the network state unchanged`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let client = BrokenClient(DefaultTransport())
        let session = try session(world, client)
        client.isBroken = true
        try world.set("1", "name", "mine")
        #expect(try await session.goOnline().state == .offline)
        try await session.eraseLocal()
        client.isBroken = false
        let statuses = session.statuses
        session.start()
        session.networkChanged()
        for await status in statuses where status.state == .online { break }
        await session.stop()
        #expect(try world.client() == ["1 item1 9:00"])
    }
}
