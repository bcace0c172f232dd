import Dispatch
import SettleDatabase
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleServer

@Suite struct StreamPumpTests {
    /// A stream that searches and finds nothing.
    private final class Searching: ResponseStream {
        let isOver = Guarded(false)

        func next() -> ResponseStep { isOver.withLock { $0 } ? .end : .piece([]) }
    }

    @Test func `a stream without data frees its worker for others`() {
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
        #expect(other.wait(timeout: .now() + 300) == .success)
        stream.isOver.withLock { $0 = true }
        #expect(ended.wait(timeout: .now() + 300) == .success)
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
        #expect(other.wait(timeout: .now() + 300) == .success)
    }

    /// A stream that gives a piece each time it is woken.
    private final class Gushing: ResponseStream {
        private struct State {
            var wake: (@Sendable () -> Void)?
            var isWoken = true
            var asked = 0
        }

        private let state = Guarded(State())
        static let piece = [UInt8](repeating: 0, count: 40 * 1024)

        func begin(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

        func next() -> ResponseStep {
            state.withLock { state in
                defer { state.isWoken = false }
                guard state.isWoken else { return .wait }
                state.asked += 1
                return .piece(Self.piece)
            }
        }

        /// How many pieces it was asked for.
        var asked: Int { state.withLock(\.asked) }

        func gush() {
            let wake = state.withLock { state in
                state.isWoken = true
                return state.wake
            }
            wake?()
        }
    }

    @Test func `a client that does not read buffers two pieces of a feed and no more, and gets the rest later`() {
        let (pool, feeds) = (WorkerPool(limit: 1), WorkerPool(limit: 1))
        defer {
            pool.close()
            feeds.close()
        }
        let stream = Gushing()
        let pump = StreamPump(stream, pool: pool, wakePool: feeds) {}
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { buffer.deallocate() }
        _ = pump.supply(buffer) {}
        func settle() {
            let done = DispatchSemaphore(value: 0)
            pool.submit { feeds.submit { done.signal() } }
            #expect(done.wait(timeout: .now() + 300) == .success)
        }
        for _ in 0..<20 {
            settle()
            stream.gush()
        }
        settle()
        #expect(stream.asked == 2)
        // Reading some lets it continue.
        _ = pump.supply(buffer) {}
        settle()
        #expect(stream.asked == 3)
        pump.close()
    }
}
