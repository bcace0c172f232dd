import Foundation
import Settle
import SettleServer
import SettleTesting
import Testing

/// One object keeps a database and a server's the same.
@Suite(.timeLimit(.minutes(5)))
struct TwoWayReplicatorTests {
    private let room: TemporaryFolder
    private let server: Server
    private let url: URL

    init() throws {
        room = try TemporaryFolder()
        var options = ServerOptions()
        options.port = 0
        options.security.admins = ["ada": "secret"]
        server = Server(store: try DocumentStore(path: room("store")), options: options)
        try server.start()
        url = try #require(URL(string: "http://ada:secret@127.0.0.1:\(server.port)/notes"))
    }

    private func device(_ name: String) throws -> Database {
        let database = try Database.inMemory()
        try database.save(Document(id: "of", body: ["name": JSONValue(name)]))
        try database.save(Document(body: ["by": JSONValue(name)]))
        return database
    }

    @Test func `one pass pulls, settles and pushes, so that two devices and the server are the same`() async throws {
        defer { server.stop() }
        let (ada, ben) = (try device("ada"), try device("ben"))
        let created = try await Replicator(ada, peer: url, createsDatabase: true).run()
        #expect(created.map(\.counts.revisionsWritten) == [0, 2])
        let second = try Replicator(ben, peer: url, conflictPolicy: .mostRevisions)
        #expect(second.status.mode == .stopped && second.parts.count == 2)
        try await second.run()
        try await Replicator(ada, peer: url).run()
        #expect(try ada.documents() == ben.documents())
        #expect(try ada.documents().count == 3)
        #expect(try ada.conflictedDocumentIDs().isEmpty && ben.conflictedDocumentIDs().isEmpty)
    }

    @Test func `a continuous one has one status, which is idle when both ways are done`() async throws {
        defer { server.stop() }
        let (ada, ben) = (try device("ada"), try Database.inMemory())
        try await Replicator(ada, peer: url, direction: .push, createsDatabase: true).run()
        let replicator = try Replicator(ben, peer: url, isContinuous: true)
        replicator.start()
        for await status in replicator.statuses
        where status.mode == .idle && status.parts.allSatisfy({ $0.mode == .idle }) { break }
        #expect(try ben.documents().count == 2)
        try ben.save(Document(id: "later"))
        for await status in replicator.statuses where status.parts[1].counts.revisionsWritten == 1 { break }
        try await Replicator(ada, peer: url, direction: .pull).run()
        #expect(try ada.document("later") != nil)
        await replicator.stop()
        #expect(replicator.status.mode == .stopped && replicator.status.error == nil)
    }

    @Test func `a continuous one with a server is stopped when its own database is closed`() async throws {
        defer { server.stop() }
        let ada = try device("ada")
        try await Replicator(ada, peer: url, direction: .push, createsDatabase: true).run()
        let replicator = try Replicator(ada, peer: url, isContinuous: true)
        replicator.start()
        for await status in replicator.statuses where status.parts.allSatisfy({ $0.mode == .idle }) { break }
        ada.close()
        for await status in replicator.statuses where status.mode == .stopped { break }
        #expect(replicator.status.parts.map(\.mode) == [.stopped, .stopped])
        #expect(replicator.status.error?.code == .database)
    }

    @Test func `a part that can't continue ends the run with its error, which is localized and names the cause once`()
        async throws
    {
        defer { server.stop() }
        let (ada, missing) = (try device("ada"), url)
        let error = await #expect(throws: PeerError.self) { try await Replicator(ada, peer: missing).run() }
        let text = try #require((error as (any Error)?)?.localizedDescription)
        #expect(text == error?.description && text.contains("notes"))
        #expect(throws: PeerError.self) { try Replicator(ada, peer: #require(URL(string: "http://127.0.0.1:1/"))) }
    }

    @Test func `a cancelled run starts no part that it has not reached`() async throws {
        defer { server.stop() }
        let (ada, ben) = (try device("ada"), try Database.inMemory())
        let replicator = Replicator(ada, with: LocalPeer(ben))
        let run = Task {
            try? await waitForCancellation()
            return try await replicator.run()
        }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(try ben.documents().isEmpty)
    }

    @Test func `a local peer needs no server`() async throws {
        defer { server.stop() }
        let (ada, ben) = (try device("ada"), try Database.inMemory())
        try await Replicator(ada, with: LocalPeer(ben)) { $0.limits = BatchLimits() }.run()
        #expect(try ben.documents() == ada.documents())
    }
}
