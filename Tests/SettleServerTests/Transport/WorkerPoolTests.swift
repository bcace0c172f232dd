import Dispatch
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
        for _ in 0..<3 { #expect(begun.wait(timeout: .now() + 20) == .success) }
        let other = DispatchSemaphore(value: 0)
        pool.submit(for: "modest") { other.signal() }
        #expect(other.wait(timeout: .now() + 20) == .success)
        for _ in 0..<20 { release.signal() }
        for _ in 0..<17 { #expect(begun.wait(timeout: .now() + 20) == .success) }
    }
}
