import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleReplication

/// Persistent replications: SEMANTICS 94 to 103 and 125, against a server on a socket.
@Suite(.timeLimit(.minutes(5))) struct PersistentReplicationTests {
    private let server: LiveServer
    private let folder: TemporaryFolder
    private let hub: Database

    init() throws {
        server = try LiveServer()
        folder = try TemporaryFolder()
        hub = try DocumentStore(path: server.folder.path).create("hub")
    }

    private func open() throws -> Database { try Database.openOrCreate(folder("notes.settle")) }

    private func peer(_ name: String = "hub", _ credentials: String = "admin:secret-word@") throws -> CouchDBPeer {
        try CouchDBPeer(server.url(name, credentials: credentials))
    }

    private func save(_ id: String, in database: Database) throws {
        try database.save(Document(id: DocumentID(validating: id), body: ["v": 1]), onConflict: .fail)
    }

    /// Waits for a document to arrive.
    private func arrival(of id: String, in database: Database) async throws {
        let id = try DocumentID(validating: id)
        for try await document in database.observe(id) where document != nil { return }
    }

    private func stored(in database: Database) throws -> String {
        try database.localDocument(DocumentID(validating: "_local/settle-replications"))?.body.json.description ?? ""
    }

    @Test func `a persistent replication is active again after the database is opened and resumed`() async throws {
        // SEMANTICS 94, 95, 103, 125
        var notes = try open()
        var configuration = ReplicationConfiguration.pull(notes, from: try peer())
        #expect(!configuration.isContinuous)
        configuration.isContinuous = true
        configuration.filter = .documents([try DocumentID(validating: "a b"), try DocumentID(validating: "c")])
        do {
            let pull = try await notes.replications.replicator(configuration)
            try await notes.replications.persist(pull)
            pull.start()
        }
        try save("a b", in: hub)
        try await arrival(of: "a b", in: notes)
        #expect(try !stored(in: notes).contains("secret-word"))
        await notes.replications.all.first?.suspend()
        notes.close()

        notes = try open()
        #expect(notes.replications.all.isEmpty)
        try save("c", in: hub)
        notes.addValidation("c") { context in
            if context.newRevision.id.string == "c" { throw DocumentRejection(message: "not here") }
        }
        let resumed = try await notes.replications.resume { url in
            #expect(url.user == "admin" && url.password == nil)
            return .basic(user: "admin", password: "secret-word")
        }
        #expect(resumed.count == 1 && resumed[0].configuration.isContinuous)
        for await status in resumed[0].statuses where status.mode == .idle { break }
        #expect(try notes.document(DocumentID(validating: "c")) == nil)
        #expect(resumed[0].ledger.entries.map(\.documentID.string) == ["c"])
        await notes.replications.removeAll()
        #expect(try notes.replications.persistentCount() == 0)
        notes.close()
    }

    @Test func `a replication that is not persistent is forgotten, even a continuous one`() async throws {
        // SEMANTICS 94
        var notes = try open()
        var configuration = ReplicationConfiguration.push(notes, to: try peer())
        configuration.isContinuous = true
        let push = try await notes.replications.replicator(configuration)
        push.start()
        for await status in push.statuses where status.mode == .idle { break }
        await push.suspend()
        notes.close()
        notes = try open()
        #expect(try await notes.replications.resume().isEmpty)
        notes.close()
    }

    @Test func `a persistent one-shot replication runs once, and is not started again`() async throws {
        let notes = try open()
        try save("a", in: notes)
        let push = try await notes.replications.replicator(.push(notes, to: try peer()))
        try await notes.replications.persist(push, storesCredentials: true)
        #expect(try stored(in: notes).contains("secret-word"))
        // It was stopped before its end, so it is still active.
        await push.stop()
        let again = try await notes.replications.resume()
        #expect(again.count == 1)
        try await again.first?.run()
        #expect(try hub.document(DocumentID(validating: "a")) != nil)
        #expect(try stored(in: notes).contains("completed"))
        #expect(try await notes.replications.resume().isEmpty)
        notes.close()
    }

    @Test func `resuming gives a replication that exists already its stored configuration`() async throws {
        var notes = try open()
        var configuration = ReplicationConfiguration.pull(notes, from: try peer())
        configuration.isContinuous = true
        let stored = try await notes.replications.replicator(configuration)
        try await notes.replications.persist(stored, storesCredentials: true)
        notes.close()

        notes = try open()
        let pair = try await notes.replicate(with: try peer())
        #expect(!pair[0].configuration.isContinuous)
        let resumed = try await notes.replications.resume(configure: { $0.conflictPolicy = .mostRevisions })
        try #require(resumed.count == 1 && resumed[0] === pair[0])
        try #require(pair[0].configuration.isContinuous)
        #expect(pair[0].configuration.conflictPolicy.name == "mostRevisions")
        for await status in pair[0].statuses where status.mode == .idle { break }
        await pair[0].suspend()
        #expect(try !self.stored(in: notes).contains("completed"))
        notes.close()
    }

    @Test func `a persistent replication that is made again after its end can be paused and removed`() async throws {
        // SEMANTICS 102
        let notes = try open()
        var configuration = ReplicationConfiguration.push(notes, to: try peer())
        func runOnce(_ configuration: ReplicationConfiguration) async throws -> String {
            let push = try await notes.replications.replicator(configuration)
            let name = try await notes.replications.persist(push, storesCredentials: true)
            try await push.run()
            return name
        }
        let name = try await runOnce(configuration)
        await eventually("the replication that has ended is released") { notes.replications.all.isEmpty }
        configuration.isContinuous = true
        let again = try await notes.replications.replicator(configuration)
        again.start()
        for await status in again.statuses where status.mode == .idle { break }
        try await notes.replications.pausePersistent(name)
        #expect(again.status.mode == .stopped)
        again.start()
        try await notes.replications.removePersistent(name)
        #expect(again.status.mode == .stopped && notes.replications.all.isEmpty)
        #expect(try notes.replications.persistentCount() == 0)
        notes.close()
    }

    @Test func `replications that are paused or removed while credentials are awaited are not started`() async throws {
        var notes = try open()
        for configuration in [ReplicationConfiguration.pull(notes, from: try peer()), .push(notes, to: try peer())] {
            try await notes.replications.persist(try await notes.replications.replicator(configuration))
        }
        notes.close()

        notes = try open()
        let replications = notes.replications
        let names = try replications.persistent().map(\.name)
        try #require(names.count == 2)
        let started = try await replications.resume { _ in
            if try replications.persistentCount() == 2 {
                try await replications.pausePersistent(names[0])
                try await replications.removePersistent(names[1])
            }
            return .basic(user: "admin", password: "secret-word")
        }
        #expect(started.isEmpty)
        #expect(replications.all.allSatisfy { $0.status.mode == .stopped })
        #expect(try replications.persistent().map(\.state) == [.paused])
        notes.close()
    }

    @Test func `exclusively removes persistent replications too, also those with other peers and filters`()
        async throws
    {
        // SEMANTICS 98, 99, 100, 101, 102
        let notes = try open()
        var filtered = ReplicationConfiguration.pull(notes, from: try peer())
        filtered.filter = .documents([try DocumentID(validating: "a")])
        for configuration in [filtered, .push(notes, to: try peer("other"))] {
            try await notes.replications.persist(try await notes.replications.replicator(configuration))
        }
        let pair = try await notes.replicate(with: try peer())
        for replicator in pair { try await notes.replications.persist(replicator) }
        #expect(pair.map(\.configuration.direction) == [.pull, .push])
        #expect(try notes.replications.persistentCount() == 4)
        let same = try await notes.replicate(with: try peer(), exclusively: true)
        #expect(same[0] === pair[0] && same[1] === pair[1])
        #expect(try notes.replications.persistentCount() == 2)
        #expect(try await notes.replicate(with: nil, exclusively: true).isEmpty)
        #expect(try notes.replications.persistentCount() == 0 && notes.replications.all.isEmpty)
        notes.close()
    }

    @Test func `a persistent replication that was never resumed is removed by exclusively as well`() async throws {
        // SEMANTICS 100
        var notes = try open()
        let other = try await notes.replications.replicator(.push(notes, to: try peer("other")))
        try await notes.replications.persist(other)
        notes.close()
        notes = try open()
        try await notes.replicate(with: try peer(), exclusively: true)
        #expect(try notes.replications.persistentCount() == 0)
        notes.close()
    }

    @Test func `a pair shares its peer, also when created again`() async throws {
        // SEMANTICS 98
        let notes = try open()
        let pair = try await notes.replicate(with: try peer())
        for round in 0..<2 {
            try save("here\(round)", in: notes)
            try save("there\(round)", in: hub)
            for replicator in pair { try await replicator.run() }
            #expect(try hub.document(DocumentID(validating: "here\(round)")) != nil)
            #expect(try notes.document(DocumentID(validating: "there\(round)")) != nil)
        }
        notes.close()
    }

    @Test func `a replication that can't be stored is refused`() async throws {
        let notes = try open()
        let local = try await notes.replications.replicator(.push(notes, to: LocalPeer(hub)))
        await #expect(throws: PeerError.self) { try await notes.replications.persist(local) }
        let foreign = OneWayReplicator(.push(notes, to: try peer()))
        await #expect(throws: PeerError.self) { try await notes.replications.persist(foreign) }
        notes.close()
    }
}
