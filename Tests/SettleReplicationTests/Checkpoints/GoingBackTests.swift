import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleReplication

/// Sources whose sequence went back.
@Suite(.timeLimit(.minutes(5))) struct GoingBackTests {
    @Test func `a start after the source's last change begins at its first, with a warning`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<5 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let some = try await replicate(source, to: target) { $0.since = PeerSequence(3) }
        #expect(some.counts.revisionsWritten == 2 && some.warnings.isEmpty)
        let all = try await replicate(source, to: target) { $0.since = PeerSequence(1000) }
        #expect(all.counts.revisionsWritten == 3 && all.counts.resyncs == 1)
        #expect(all.warnings.first?.kind == .resync)
        try expectSame(source.database, target.database)
    }

    @Test func `a source that goes back again and again is given up, or read ever less often`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<5 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        let odd = ScriptedPeer(source.peer)
        odd.tell {
            $0.onPage = { request, page in
                request.since.isStart ? page : ChangesPage(changes: [], last: PeerSequence(1))
            }
        }
        var configuration = ReplicationConfiguration(source: odd, target: target.peer)
        configuration.limits.changes = 3
        configuration.retry.firstDelay = .milliseconds(1)
        let error = await #expect(throws: PeerError.self) { try await OneWayReplicator(configuration).run() }
        #expect(error?.code == .badAnswer && error?.isTransient == false)
        let asked = odd.count(.connect)
        #expect(asked == configuration.retry.attempts)
        configuration.isContinuous = true
        let clock = ManualClock()
        configuration.clock = clock
        configuration.usesCheckpoints = false
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        try await clock.waitForSleepers(1)
        #expect(odd.count(.connect) == asked + 3)
        await replicator.stop()
    }
}
