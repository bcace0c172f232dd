import Dispatch
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct WorkerPoolTests {
    @Test func `one client's requests leave threads for others`() throws {
        let pool = WorkerPool(limit: 4)
        defer { pool.close() }
        let (release, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<20 {
            pool.submit(for: "greedy") {
                begun.signal()
                release.wait()
            }
        }
        for _ in 0..<3 { #expect(begun.wait(timeout: .now() + 300) == .success) }
        let other = DispatchSemaphore(value: 0)
        pool.submit(for: "modest") { other.signal() }
        #expect(other.wait(timeout: .now() + 300) == .success)
        for _ in 0..<20 { release.signal() }
        for _ in 0..<17 { #expect(begun.wait(timeout: .now() + 300) == .success) }
    }

    @Test func `a job submitted after the pool was closed runs, and keeps nothing alive`() {
        final class Owner: Sendable {
            let pool = WorkerPool(limit: 1)
        }
        let ran = DispatchSemaphore(value: 0)
        weak var kept: Owner?
        do {
            let owner = Owner()
            kept = owner
            owner.pool.submit { ran.signal() }
            #expect(ran.wait(timeout: .now() + 300) == .success)
            owner.pool.close()
            owner.pool.submit { withExtendedLifetime(owner) { _ = ran.signal() } }
        }
        #expect(ran.wait(timeout: .now() + 300) == .success)
        waitUntil("the owner is gone") { kept == nil }
    }

    @Test func `the threads of a rush end, and each job submitted while they end runs once`() {
        let pool = WorkerPool(limit: 8, idleTime: .microseconds(200))
        defer { pool.close() }
        let ran = Guarded(0)
        var random = SeededRandom(seed: 8)
        for _ in 0..<2_000 {
            pool.submit { ran.withLock { $0 += 1 } }
            // About as long as a thread waits, so that many jobs meet a thread that is about to end.
            let next = ContinuousClock.now + .microseconds(random.below(400))
            while ContinuousClock.now < next {}
        }
        waitUntil("all jobs ran") { ran.withLock { $0 } == 2_000 }
        waitUntil("all threads but one have ended") { pool.threads == 1 }
        let last = DispatchSemaphore(value: 0)
        pool.submit { last.signal() }
        #expect(last.wait(timeout: .now() + 300) == .success)
    }
}
