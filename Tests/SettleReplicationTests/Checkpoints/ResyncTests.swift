import Settle
import SettleTesting
import Testing

/// Checkpoints that are deleted on request.
@Suite(.timeLimit(.minutes(5))) struct ResyncTests {
    // K15
    @Test(arguments: PeerPair.all)
    func `a replication that forgets its checkpoints compares everything and replicates what is missing`(
        pair: PeerPair
    ) async throws {
        let (source, target) = try await pair.make()
        for number in 0..<20 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.limits.changes = 7
        let replicator = OneWayReplicator(configuration)
        try await replicator.run()
        // The target lost a replicated document, which no checkpoint shows.
        try target.database.purge("d3")
        #expect(try await replicator.run().counts.changesRead == 0)
        await replicator.resyncFromStart()
        let again = try await replicator.run()
        #expect(again.counts.changesRead == 20 && again.counts.revisionsWritten == 1)
        #expect(again.warnings.isEmpty && again.counts.resyncs == 0)
        try expectSame(source.database, target.database)
        // The request applies once, and there are checkpoints again.
        let third = try await replicator.run()
        #expect(third.counts.changesRead == 0 && third.warnings.isEmpty)
    }

    @Test func `an interrupted resync starts again from the beginning`() async throws {
        let (source, target) = try await PeerPair.local[1].make()
        for number in 0..<20 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        try await replicate(source, to: target)
        let broken = ScriptedPeer(source.peer)
        broken.tell { $0.always[.changes] = PeerError(.forbidden, "no changes", status: 403) }
        let replicator = OneWayReplicator(ReplicationConfiguration(source: broken, target: target.peer))
        await replicator.resyncFromStart()
        await #expect(throws: PeerError.self) { try await replicator.run() }
        #expect(try await replicate(source, to: target).counts.changesRead == 20)
    }

    @Test func `a resync that can't reach both sides waits for the next run`() async throws {
        let (source, target) = try await PeerPair.local[1].make()
        for number in 0..<20 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let away = ScriptedPeer(source.peer)
        let replicator = OneWayReplicator(ReplicationConfiguration(source: away, target: target.peer))
        #expect(try await replicator.run().counts.changesRead == 20)
        away.tell { $0.always[.connect] = PeerError(.forbidden, "not now", status: 403) }
        await replicator.resyncFromStart()
        for _ in 0..<2 { await #expect(throws: PeerError.self) { try await replicator.run() } }
        away.tell { $0.always[.connect] = nil }
        #expect(try await replicator.run().counts.changesRead == 20)
        #expect(try await replicator.run().counts.changesRead == 0)
    }

    @Test func `a running replication restarts automatically for a resync`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<20 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle && $0.counts.changesRead == 20 }
        try target.database.purge("d3")
        await replicator.resyncFromStart()
        await replicator.waits { $0.mode == .idle && $0.counts.revisionsWritten == 1 }
        #expect(replicator.status.counts.changesRead == 20)
        try expectSame(source.database, target.database)
        await replicator.stop()
    }
}
