#if canImport(CCurl)
internal import SettleDatabase
internal import SettlePlatform

/// The bytes of a response that have arrived and were not read yet.
///
///     curl ── put ──→ [piece, piece, …] ── next ──→ reader
///             false: stalled, curl pauses      madeRoom: curl may go on
final class CurlInbox: Sendable {
    private struct State {
        var headWaiter: CheckedContinuation<CurlHead, any Error>?
        var waiter: CheckedContinuation<(piece: [UInt8]?, madeRoom: Bool), any Error>?
        var pieces: [[UInt8]] = []
        var first = 0
        var count = 0
        var end: Result<Void, TransportError>?
        var isStalled = false

        /// Takes the oldest piece; also returns whether curl may now resume.
        mutating func takeFirst() -> (piece: [UInt8]?, madeRoom: Bool) {
            let piece = pieces[first]
            pieces[first] = []
            first += 1
            count -= piece.count
            if first == pieces.count { (pieces, first) = ([], 0) }
            let madeRoom = isStalled && count <= CurlInbox.capacity / 2
            if madeRoom { isStalled = false }
            return (piece, madeRoom)
        }
    }

    private let state = Guarded(State())
    /// How many bytes may wait to be read.
    static let capacity = 256 * 1024
    /// Up to how many bytes a piece grows before the next one starts.
    private static let pieceSize = 64 * 1024

    /// Whether curl was paused until the reader catches up.
    var isStalled: Bool { state.withLock { $0.isStalled } }

    /// Waits for the head.
    ///
    /// - Parameter start: Called once the caller waits, unless the transfer ended before.
    /// - Returns: The head.
    /// - Throws: ``TransportError`` if the transfer ends first.
    func head(start: () -> Void) async throws -> CurlHead {
        try await withCheckedThrowingContinuation { continuation in
            let ended = state.withLock { state -> Result<Void, TransportError>? in
                if state.end == nil { state.headWaiter = continuation }
                return state.end
            }
            if case .failure(let error) = ended { continuation.resume(throwing: error) } else { start() }
        }
    }

    /// Hands the head on.
    func put(_ head: CurlHead) {
        let waiter = state.withLock { state in
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: head)
    }

    /// What happened to offered bytes.
    enum Taken {
        case taken
        case stalled
        case ended
    }

    /// Takes bytes; none if the inbox is full or has no reader.
    func put(_ bytes: UnsafeRawBufferPointer) -> Taken {
        var waiter: CheckedContinuation<(piece: [UInt8]?, madeRoom: Bool), any Error>?
        let taken = state.withLock { state -> Taken in
            guard state.end == nil else { return .ended }
            guard state.count < Self.capacity else {
                state.isStalled = true
                return .stalled
            }
            if let waiting = state.waiter {
                (waiter, state.waiter) = (waiting, nil)
                return .taken
            }
            if let last = state.pieces.indices.last, last >= state.first,
                state.pieces[last].count + bytes.count <= Self.pieceSize
            {
                state.pieces[last].append(contentsOf: bytes)
            } else {
                state.pieces.append(Array(bytes))
            }
            state.count += bytes.count
            return .taken
        }
        waiter?.resume(returning: (Array(bytes), false))
        return taken
    }

    /// Waits for a piece; also returns whether curl may now resume.
    func next() async throws -> (piece: [UInt8]?, madeRoom: Bool) {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<(piece: [UInt8]?, madeRoom: Bool), any Error>? in
                if case .failure(let error) = state.end, error.code == .cancelled { return .failure(error) }
                if state.first < state.pieces.count { return .success(state.takeFirst()) }
                switch state.end {
                case .success: return .success((nil, false))
                case .failure(let error): return .failure(error)
                case nil: break
                }
                guard state.waiter == nil else {
                    return .failure(TransportError(.badRequest, "a body is read by one task at a time"))
                }
                state.waiter = continuation
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// Records how the transfer ended; bytes that arrived can still be read. Returns false if it had ended before.
    func end(_ result: Result<Void, TransportError>) -> Bool {
        let (isFirst, headWaiter, waiter) = state.withLock { state in
            guard state.end == nil else { return (false, state.headWaiter, state.waiter) }
            defer { (state.end, state.headWaiter, state.waiter) = (result, nil, nil) }
            return (true, state.headWaiter, state.waiter)
        }
        guard isFirst else { return false }
        switch result {
        case .success:
            let error = TransportError(.badAnswer, "the answer has no head")
            headWaiter?.resume(throwing: error)
            waiter?.resume(returning: (nil, false))
        case .failure(let error):
            headWaiter?.resume(throwing: error)
            waiter?.resume(throwing: error)
        }
        return true
    }
}
#endif
