import Settle
import SettleTesting
import Testing

@testable import SettleReplication

/// All statuses that a run publishes; a reader of a stream may miss some.
@Suite(.timeLimit(.minutes(5)))
struct PublishedProgressTests {
    /// Runs a replication, and returns all statuses that it published.
    private func statuses(
        _ configuration: ReplicationConfiguration, _ use: (ReplicatorState, ReplicationOrders) async throws -> Void
    ) async throws -> [ReplicationStatus] {
        let (state, orders) = (ReplicatorState(buffered: 100_000), ReplicationOrders())
        let statuses = state.statuses
        let running = Task {
            var run = ReplicationRun(configuration, state, orders)
            let result = await run.run { state.show($1) }
            state.endStatuses()
            return try result.get()
        }
        try await use(state, orders)
        _ = try await running.value
        return await statuses.reduce(into: []) { $0.append($1) }
    }

    /// Expects that counters go back to 0 only from where completed equals total; returns the totals there.
    private func ends(_ statuses: [ReplicationStatus]) -> [Int] {
        var ends: [Int] = []
        for (before, after) in zip(statuses, statuses.dropFirst()) {
            #expect(after.completed <= after.total)
            guard before.total > 0, after.total == 0 else { continue }
            #expect(before.mode == .active && before.completed == before.total, "\(before)")
            #expect(after.mode != .active, "\(after)")
            ends.append(before.total)
        }
        return ends
    }

    // SEMANTICS 107
    @Test func `completed equals total before a one-shot replication is stopped`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<250 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.limits.changes = 100
        let statuses = try await statuses(configuration) { _, _ in }
        #expect(ends(statuses) == [250])
        #expect(statuses.last?.mode == .stopped && statuses.last?.error == nil)
    }

    // SEMANTICS 107
    @Test func `completed equals total each time before a continuous replication is idle`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for number in 0..<30 { try source.database.put(DocumentID(validating: "d\(number)"), ["n": 1]) }
        var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
        configuration.isContinuous = true
        let statuses = try await statuses(configuration) { state, orders in
            for await status in state.statuses where status.mode == .idle && status.counts.revisionsWritten == 30 {
                break
            }
            for number in 0..<7 { try source.database.put(DocumentID(validating: "e\(number)"), ["n": 1]) }
            for await status in state.statuses where status.mode == .idle && status.counts.revisionsWritten == 37 {
                break
            }
            orders.give(.stop)
        }
        #expect(ends(statuses).reduce(0, +) == 37 && ends(statuses).first == 30, "\(ends(statuses))")
        #expect(statuses.last?.mode == .stopped)
    }
}
