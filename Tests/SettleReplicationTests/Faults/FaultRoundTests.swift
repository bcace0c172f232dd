import Foundation
import Settle
import SettleServer
import SettleTesting
import Testing

/// Replication over a network that fails in every possible way. `SETTLE_FAULT_ROUNDS` and `SETTLE_FAULT_SEED` set the
/// number of rounds and the first seed.
@Suite(.serialized) struct FaultRoundTests {
    private static func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    // SEMANTICS 113
    @Test func `under any faults, both sides become equal and no checkpoint runs ahead`() async throws {
        let server = try LiveServer()
        let rounds = Self.setting("SETTLE_FAULT_ROUNDS") ?? 40
        let first = Self.setting("SETTLE_FAULT_SEED") ?? 1
        for seed in first..<(first + rounds) {
            let proxy = try FaultProxy(to: server.server.port)
            defer { proxy.stop() }
            var round = FaultRound(seed: UInt64(seed), server: server, proxy: proxy)
            do { try await round.run() } catch { Issue.record("seed \(seed): \(error)\n\(proxy.report)") }
        }
        print("fault rounds: \(rounds) from seed \(first)")
    }
}
