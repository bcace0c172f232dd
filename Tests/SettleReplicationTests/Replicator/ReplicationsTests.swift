import Settle
import SettleTesting
import Testing

/// The replications owned by a database.
@Suite(.timeLimit(.minutes(5)))
struct ReplicationsTests {
    private let here: Kept
    private let hub: Kept
    private let other: Kept

    init() throws {
        (here, hub, other) = try (
            Kept(TemporaryDatabase(.memory)), Kept(TemporaryDatabase(.memory)), Kept(TemporaryDatabase(.memory))
        )
    }

    // SEMANTICS 95, 96, 98, K16
    @Test func `a pair is a pull and a push, one-shot and not started`() async throws {
        let pair = try await here.database.replicate(with: LocalPeer(hub.database))
        #expect(pair.map(\.configuration.direction) == [.pull, .push])
        #expect(pair.allSatisfy { !$0.configuration.isContinuous && $0.status.mode == .stopped })
        // This configuration takes effect at the start.
        for replicator in pair { replicator.configuration.isContinuous = true }
        for replicator in pair { replicator.start() }
        await pair[0].waits { $0.mode == .idle }
        await pair[1].waits { $0.mode == .idle }
        for replicator in pair { await replicator.stop() }
    }

    // SEMANTICS 96
    @Test func `a continuous pair is one call, also where one of the two is one-shot`() async throws {
        let peer = LocalPeer(hub.database)
        try hub.database.put("there", ["n": 1])
        let pair = try await here.database.replicateContinuously(with: peer) { configuration in
            configuration.conflictPolicy = .mostRevisions
        }
        #expect(pair.map(\.configuration.direction) == [.pull, .push])
        #expect(pair.allSatisfy { $0.configuration.isContinuous })
        #expect(pair[0].configuration.conflictPolicy.name == "mostRevisions")
        try here.database.put("here", ["n": 1])
        for try await document in hub.database.observe("here") where document != nil { break }
        for try await document in here.database.observe("there") where document != nil { break }
        // A second call returns the same running pair.
        let again = try await here.database.replicateContinuously(with: peer)
        #expect(again[0] === pair[0] && again[1] === pair[1])
        try hub.database.put("later", ["n": 1])
        for try await document in here.database.observe("later") where document != nil { break }
        for replicator in pair { await replicator.stop() }
        // A one-shot replication becomes continuous.
        for replicator in pair { replicator.configuration.isContinuous = false }
        pair[0].start()
        try await here.database.replicateContinuously(with: peer)
        await pair[0].waits { $0.mode == .idle }
        await pair[1].waits { $0.mode == .idle }
        for replicator in pair { await replicator.stop() }
    }

    // SEMANTICS 99
    @Test func `requesting a replication again gives the same object`() async throws {
        let first = try await here.database.replicate(with: LocalPeer(hub.database))
        let second = try await here.database.replicate(with: LocalPeer(hub.database))
        #expect(first[0] === second[0] && first[1] === second[1])
        var filtered = ReplicationConfiguration.pull(here.database, from: LocalPeer(hub.database))
        filtered.filter = .documents(["a"])
        let third = try await here.database.replications.replicator(filtered)
        #expect(third !== first[0])
        #expect(here.database.replications.all.count == 3)
    }

    // SEMANTICS 100, 102
    @Test func `exclusively removes all others of this database, filtered ones too, and stops them first`() async throws
    {
        var filtered = ReplicationConfiguration.pull(here.database, from: LocalPeer(hub.database))
        filtered.filter = .documents(["a"])
        filtered.isContinuous = true
        let one = try await here.database.replications.replicator(filtered)
        let away = try await here.database.replicate(with: LocalPeer(other.database))
        let foreign = try await other.database.replicate(with: LocalPeer(hub.database))
        one.start()
        try hub.database.put("a", ["n": 1])
        let database = here.database
        try await one.waits { _ in try database.document("a") != nil }
        let pair = try await here.database.replicate(with: LocalPeer(hub.database), exclusively: true)
        #expect(one.status.mode == .stopped)
        #expect(here.database.replications.all.count == 2)
        #expect(here.database.replications.all.allSatisfy { left in pair.contains { $0 === left } })
        #expect(other.database.replications.all.count == foreign.count)
        #expect(try here.database.document("a") != nil)
        // The checkpoint stayed: the same replication continues where it stopped.
        filtered.isContinuous = false
        let again = try await here.database.replications.replicator(filtered).run()
        #expect(again.counts.changesRead == 0)
        withExtendedLifetime(away) {}
    }

    // SEMANTICS 101
    @Test func `exclusively with no replication removes all`() async throws {
        _ = try await here.database.replicate(with: LocalPeer(hub.database))
        let none = try await here.database.replicate(with: nil, exclusively: true)
        #expect(none.isEmpty)
        #expect(here.database.replications.all.isEmpty)
    }

    // SEMANTICS 103, K18
    @Test func `a running replication stays alive without a reference, and is released when it ends`() async throws {
        try hub.database.put("a", ["n": 1])
        func start() async throws {
            let pair = try await here.database.replicate(with: LocalPeer(hub.database))
            pair[0].configuration.isContinuous = true
            pair[0].start()
        }
        try await start()
        for try await change in try here.database.observe(since: 0) where change.id == "a" { break }
        let running = here.database.replications.all.filter { $0.status.mode != .stopped }
        #expect(running.count == 1)
        for replicator in running { await replicator.stop() }
    }

    @Test func `a database can't be replicated with itself`() async throws {
        let database = here.database
        await #expect(throws: PeerError.self) {
            try await OneWayReplicator(.push(database, to: LocalPeer(database))).run()
        }
    }
}
