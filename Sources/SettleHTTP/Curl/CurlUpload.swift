#if canImport(CCurl)
internal import SettlePlatform

/// The body of a request: reads the next piece from its producer after curl has sent the last one.
final class CurlUpload: Sendable {
    /// The result of curl's request for bytes.
    enum Step {
        case bytes(Int)
        /// The next piece is being made; curl pauses.
        case stall
        case failed
    }

    private struct State {
        var piece: [UInt8] = []
        var offset = 0
        var sent: Int64 = 0
        var isAtEnd = false
        var isStalled = false
        var isCancelled = false
        var failure: (any Error)?
        var producer: HTTPBody.Producer?
        var pull: Task<Void, Never>?
        /// The number of rewinds, so that a piece from before a rewind is not sent.
        var beginning = 0
        var onPiece: @Sendable () -> Void = {}
    }

    private let body: HTTPBody
    private let state = Guarded(State())

    init(_ body: HTTPBody) {
        self.body = body
        rewind()
    }

    /// Sets the function to call when a piece arrives for which curl waits.
    func begin(onPiece: @escaping @Sendable () -> Void) { state.withLock { $0.onPiece = onPiece } }

    /// Whether curl is paused until a piece arrives.
    var isStalled: Bool { state.withLock { $0.isStalled } }

    /// The error of the producer; `nil` if it did not fail.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Restarts the body from its beginning.
    func rewind() {
        var producer: HTTPBody.Producer?
        if case .pieces(_, let open) = body.content { producer = open() }
        let pull = state.withLock { [producer] state in
            let pull = state.pull
            let (beginning, onPiece) = (state.beginning + 1, state.onPiece)
            state = State(beginning: beginning, onPiece: onPiece)
            if case .bytes(let bytes) = body.content { state.piece = bytes }
            state.producer = producer
            state.isAtEnd = producer == nil
            return pull
        }
        pull?.cancel()
    }

    /// Stops the producer, because the rest is not needed.
    func cancel() {
        let pull = state.withLock { state in
            state.isCancelled = true
            state.producer = nil
            defer { state.pull = nil }
            return state.pull
        }
        pull?.cancel()
    }

    /// Fills a buffer with the next bytes; with none at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        state.withLock { state in
            if state.failure != nil || state.isCancelled { return .failed }
            let count = min(buffer.count, state.piece.count - state.offset)
            if count > 0 {
                state.piece.withUnsafeBytes {
                    buffer.copyMemory(from: .init(rebasing: $0[state.offset...].prefix(count)))
                }
                state.offset += count
            }
            if state.offset == state.piece.count, !state.isAtEnd, state.pull == nil { pull(&state) }
            if count > 0 || state.isAtEnd { return .bytes(count) }
            state.isStalled = true
            return .stall
        }
    }

    private func pull(_ state: inout State) {
        guard let producer = state.producer else { return }
        state.pull = Task { [beginning = state.beginning] in
            do {
                try receive(await producer(), of: beginning)
            } catch {
                fail(error, of: beginning)
            }
        }
    }

    private func receive(_ piece: [UInt8]?, of beginning: Int) throws {
        let onPiece = try state.withLock { state -> (@Sendable () -> Void)? in
            guard beginning == state.beginning, !state.isCancelled else { return nil }
            state.pull = nil
            (state.piece, state.offset) = (piece ?? [], 0)
            state.sent += Int64(state.piece.count)
            state.isAtEnd = piece == nil
            if let length = body.length, state.sent > length || state.isAtEnd && state.sent < length {
                throw TransportError(
                    .bodyFailed, "a body of \(length) bytes was promised, and \(state.isAtEnd ? "fewer" : "more") came")
            }
            // An empty piece is skipped.
            if !state.isAtEnd, state.piece.isEmpty { pull(&state) }
            guard state.isStalled, state.isAtEnd || !state.piece.isEmpty else { return nil }
            state.isStalled = false
            return state.onPiece
        }
        onPiece?()
    }

    private func fail(_ error: any Error, of beginning: Int) {
        let onPiece = state.withLock { state -> (@Sendable () -> Void)? in
            guard beginning == state.beginning, !state.isCancelled else { return nil }
            state.pull = nil
            state.failure = error
            defer { state.isStalled = false }
            return state.isStalled ? state.onPiece : nil
        }
        onPiece?()
    }
}
#endif
