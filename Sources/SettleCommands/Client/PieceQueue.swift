internal import Dispatch
internal import Settle
internal import SettlePlatform

/// Hands pieces of bytes from a task, which must not block, to the main thread, which may wait for them: one at a time.
///
///     task   put ─▶ [one piece] ─▶ take   main thread
final class PieceQueue: Sendable {
    private struct State {
        var piece: [UInt8]?
        var putter: CheckedContinuation<Void, any Error>?
        var isFinished = false
    }

    private let state = Guarded(State())
    private let hasNews = DispatchSemaphore(value: 0)

    /// Hands over a piece, and returns when it is taken.
    func put(_ piece: [UInt8]) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { putter in
                let isFinished = state.withLock { state in
                    if !state.isFinished { (state.piece, state.putter) = (piece, putter) }
                    return state.isFinished
                }
                if isFinished { putter.resume(throwing: CancellationError()) } else { hasNews.signal() }
            }
        } onCancel: {
            let putter = state.withLock { state in
                defer { state = State(isFinished: true) }
                return state.putter
            }
            putter?.resume(throwing: CancellationError())
            hasNews.signal()
        }
    }

    /// Says that nothing more comes.
    func finish() {
        state.withLock { $0.isFinished = true }
        hasNews.signal()
    }

    /// The next piece; `nil` behind the last.
    ///
    /// - Throws: ``CommandError/interrupted``.
    func take() throws -> [UInt8]? {
        while true {
            let (piece, putter, isFinished) = state.withLock { state in
                defer { (state.piece, state.putter) = (nil, nil) }
                return (state.piece, state.putter, state.isFinished)
            }
            putter?.resume()
            if let piece { return piece }
            if isFinished { return nil }
            _ = hasNews.wait(timeout: .now() + .milliseconds(50))
            try Interruption.check()
        }
    }
}
