import Dispatch
import SettleDatabase
import Testing

@testable import SettleServer

@Suite struct StreamPumpTests {
    /// A stream that looks for something and does not find it.
    private final class Searching: ResponseStream {
        let isOver = Guarded(false)

        func next() -> ResponseStep { isOver.withLock { $0 } ? .end : .piece([]) }
    }

    @Test func `a stream that has nothing to send yet lets others have the worker`() {
        let pool = WorkerPool(limit: 1)
        defer { pool.close() }
        let stream = Searching()
        let ended = DispatchSemaphore(value: 0)
        let pump = StreamPump(stream, pool: pool) { ended.signal() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
        defer { buffer.deallocate() }
        _ = pump.supply(buffer) {}
        let other = DispatchSemaphore(value: 0)
        pool.submit { other.signal() }
        #expect(other.wait(timeout: .now() + 20) == .success)
        stream.isOver.withLock { $0 = true }
        #expect(ended.wait(timeout: .now() + 20) == .success)
        guard case .end = pump.supply(buffer, whenNone: {}) else { return #expect(Bool(false), "the stream has ended") }
    }

    @Test func `a stream that is stopped while it searches ends`() {
        let pool = WorkerPool(limit: 1)
        defer { pool.close() }
        let pump = StreamPump(Searching(), pool: pool) {}
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
        defer { buffer.deallocate() }
        _ = pump.supply(buffer) {}
        pump.close()
        let other = DispatchSemaphore(value: 0)
        pool.submit { other.signal() }
        #expect(other.wait(timeout: .now() + 20) == .success)
    }
}
