internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Keeps some bytes of a ``ResponseStream`` ready for the connection, and reads more on worker threads.
///
///     idle ── the connection runs dry ──→ running ──→ waiting        the stream says to wait
///       ↑                                   │ ↑          │
///       └──── enough is ready ──────────────┘ └── wake ──┘
final class StreamPump: Sendable {
    private enum Phase { case idle, running, waiting, ended, failed }

    private struct State {
        var phase = Phase.idle
        var hasBegun = false
        var isWokenEarly = false
        /// Whether the stream ends at its next wait.
        var isEnding = false
        /// Whether the stream was asked to end, and does so by itself.
        var isFinishing = false
        var isStopping = false
        var ready: [UInt8] = []
        var offset = 0
        var hasEnded = false
    }

    /// The result when the connection asks for bytes.
    enum Supply {
        /// The number of bytes that were copied.
        case copied(Int)
        /// None yet; `notify` is called when there are some.
        case none
        /// The stream has ended.
        case end
        /// The stream failed; the connection must be cut.
        case failure
    }

    private let stream: any ResponseStream
    private let pool: WorkerPool
    private let wakePool: WorkerPool
    private let owner: String
    private let notify: @Sendable () -> Void
    private let state = Guarded(State())
    private static let highWater = 256 * 1024
    /// With more ready bytes than this, a woken stream waits until the client has read them.
    private static let lowWater = 64 * 1024

    /// - Parameters:
    ///   - stream: The stream to send.
    ///   - pool: The threads that read the stream.
    ///   - wakePool: The threads that read the stream after it has waited; `pool` by default. Thousands of streams
    ///     may be woken at once, and requests should not queue after them.
    ///   - owner: The owner whose share of the pool is used.
    ///   - notify: Called when there are bytes for a connection that got none.
    init(
        _ stream: any ResponseStream, pool: WorkerPool, wakePool: WorkerPool? = nil, owner: String = "",
        notify: @escaping @Sendable () -> Void
    ) {
        self.stream = stream
        self.pool = pool
        self.wakePool = wakePool ?? pool
        self.owner = owner
        self.notify = notify
    }

    /// Copies ready bytes. `whenNone` is called under the lock before ``Supply/none`` is returned, so that no
    /// notice is missed.
    func supply(_ buffer: UnsafeMutableRawBufferPointer, whenNone: () -> Void) -> Supply {
        let (supply, begins, runs) = state.withLock { state -> (Supply, Bool, Bool) in
            let begins = !state.hasBegun
            state.hasBegun = true
            let available = state.ready.count - state.offset
            let runs = state.phase == .idle && available < Self.highWater / 2 && !state.isStopping
            if runs { state.phase = .running }
            guard available > 0 else {
                switch state.phase {
                case .ended: return (.end, begins, runs)
                case .failed: return (.failure, begins, runs)
                default:
                    if state.isStopping { return (.failure, begins, runs) }
                    whenNone()
                    return (.none, begins, runs)
                }
            }
            let count = min(available, buffer.count)
            state.ready.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[state.offset..<state.offset + count]))
            }
            state.offset += count
            if state.offset == state.ready.count {
                state.ready.removeAll(keepingCapacity: state.phase != .waiting)
                state.offset = 0
            }
            return (.copied(count), begins, runs)
        }
        if begins { stream.begin { [weak self] in self?.wake() } }
        if runs { run(in: pool) }
        return supply
    }

    /// Ends the stream if it waits; with `isForced` in any state.
    func stop(isForced: Bool) {
        let isFinishing = !isForced && stream.finish()
        let runs = state.withLock { state in
            state.isEnding = true
            state.isFinishing = isFinishing
            if isForced { state.isStopping = true }
            guard state.phase == .waiting else { return false }
            state.phase = isFinishing ? .running : .ended
            return isFinishing
        }
        if runs { run(in: pool) }
        notify()
    }

    /// Tells the stream that it is no longer needed.
    func close() {
        let isFirst = state.withLock { state in
            defer {
                state.hasEnded = true
                state.isStopping = true
                if state.phase != .running { state.phase = .ended }
            }
            return !state.hasEnded
        }
        if isFirst { stream.end() }
    }

    private func wake() {
        let runs = state.withLock { state in
            switch state.phase {
            case .waiting:
                // A client that reads nothing gets nothing more; the stream continues when the client reads
                // again.
                let isSlow = state.ready.count - state.offset > Self.lowWater
                state.phase = isSlow ? .idle : .running
                return !isSlow
            case .running: state.isWokenEarly = true
            case .idle, .ended, .failed: break
            }
            return false
        }
        if runs { run(in: wakePool) }
    }

    private func run(in pool: WorkerPool) { pool.submit(for: owner) { self.goOn(in: pool) } }

    private func goOn(in pool: WorkerPool) {
        while true {
            // The status was sent before the first piece.
            let step = Result { try StartedAnswer.producing(hasBegun: true) { try stream.next() } }
            let goesOn = state.withLock { state in
                switch step {
                case .success(.piece(let bytes)):
                    if state.ready.isEmpty {
                        (state.ready, state.offset) = (bytes, 0)
                    } else {
                        if state.offset > 0 { state.ready.removeFirst(state.offset) }
                        state.offset = 0
                        state.ready += bytes
                    }
                    if state.ready.count < Self.highWater, !state.isStopping { return true }
                    state.phase = .idle
                case .success(.wait):
                    if state.isWokenEarly || state.isFinishing {
                        state.isWokenEarly = false
                        return true
                    }
                    state.phase = state.isEnding || state.isStopping ? .ended : .waiting
                case .success(.end): state.phase = .ended
                case .failure: state.phase = .failed
                }
                return false
            }
            if case .success(.piece(let bytes)) = step, bytes.isEmpty, goesOn {
                // It has found nothing to send yet, and other jobs need the worker too.
                return run(in: pool)
            }
            if case .success(.wait) = step {
                if goesOn { continue }
                if state.withLock({ $0.phase == .waiting }) { return }
            }
            notify()
            if !goesOn { return }
        }
    }
}

// MARK: - HeadLength

/// Finds the length of the body of a response to `HEAD`, if the endpoint makes the body while it is sent.
///
/// libmicrohttpd ends such a body with its last chunk even if it sends no body, and a client would read that chunk
/// as the beginning of the next response. So the response declares its length if the body is short; otherwise it
/// closes the connection.
enum HeadLength {
    /// The maximum size of a body whose bytes are counted.
    private static let most: Int64 = 256 << 10

    /// The response with the length of its body, or with an unknown length; ends the stream.
    static func measured(_ response: HTTPResponse) -> HTTPResponse {
        guard case .stream(let stream, nil) = response.body.content else { return response }
        var response = response
        response.body = .stream(Nothing(), length: length(of: stream))
        return response
    }

    /// An empty body of unknown length.
    private final class Nothing: ResponseStream {
        func next() -> ResponseStep { .end }
    }

    /// The length; `nil` if the body is long, waits, or fails.
    private static func length(of stream: any ResponseStream) -> Int64? {
        stream.begin {}
        defer { stream.end() }
        var length: Int64 = 0
        var searches = 0
        while length <= most, searches < 1000 {
            guard let step = try? stream.next() else { return nil }
            switch step {
            case .piece(let bytes):
                length += Int64(bytes.count)
                searches += bytes.isEmpty ? 1 : 0
            case .wait: return nil
            case .end: return length
            }
        }
        return nil
    }
}
