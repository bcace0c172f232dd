import SettlePlatform
import Testing

@testable import SettleDatabase
@testable import SettleReplication

/// Jobs that run one after the other, and are cancelled together.
@Suite(.timeLimit(.minutes(5))) struct OfflineWorkTests {
    @Test func `cancelling ends the running work and the queued work`() async throws {
        let work = OfflineWork()
        let (begun, signal) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await work.run {
                signal.yield()
                try await waitForCancellation()
            }
        }
        for await _ in begun { break }
        let hasEnded = Guarded(false)
        let second = Task {
            defer { hasEnded.withLock { $0 = true } }
            try await work.run { try await waitForCancellation() }
        }
        // Nothing reports that it waits. It does by now, and if not, it is cancelled a little later.
        for _ in 0..<10 { await Task.yield() }
        while !hasEnded.withLock({ $0 }), !Task.isCancelled {
            work.cancel()
            await Task.yield()
        }
        guard !Task.isCancelled else { return }
        await #expect(throws: CancellationError.self) { try await first.value }
        await #expect(throws: CancellationError.self) { try await second.value }
    }
}
