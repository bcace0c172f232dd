internal import Dispatch
internal import Settle
internal import SettlePlatform
import SettleReplication

/// Hands pieces of bytes from the main thread, which may wait for them, to a task, which must not block: one at a time.
///
///     main thread   put ─▶ [one piece] ─▶ next   task
final class PiecePipe: Sendable {
    private enum State {
        case empty
        case full([UInt8])
        case wanted(CheckedContinuation<[UInt8]?, any Error>)
        /// All was put.
        case finished
        /// Nobody takes any more.
        case closed
    }

    private let state = Guarded(State.empty)
    private let wasTaken = DispatchSemaphore(value: 0)
    private let isOpen = Guarded(false)

    /// Begins to take the pieces, which can be done once.
    func open() -> TransportRequestBody.Producer {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = true }
            return isOpen
        }
        if wasOpen {
            return {
                throw CommandError(
                    "connection_lost", "the connection broke on the way; try again", status: .inputOutput)
            }
        }
        return { try await self.next() }
    }

    /// Hands over a piece, once the one before is taken; returns whether somebody takes more.
    ///
    /// - Throws: ``CommandError/interrupted``.
    func put(_ piece: [UInt8]) throws -> Bool {
        while true {
            let goesOn = state.withLock { state -> Bool? in
                switch state {
                case .empty: state = .full(piece)
                case .wanted(let taker):
                    state = .empty
                    taker.resume(returning: piece)
                case .full: return nil
                case .finished, .closed: return false
                }
                return true
            }
            if let goesOn { return goesOn }
            _ = wasTaken.wait(timeout: .now() + .milliseconds(50))
            try Interruption.check()
        }
    }

    /// Says that all was put.
    func finish() throws {
        while true {
            let isTaken = state.withLock { state in
                switch state {
                case .full: return false
                case .wanted(let taker): taker.resume(returning: nil)
                case .empty, .finished: break
                case .closed: return true
                }
                state = .finished
                return true
            }
            if isTaken { return }
            _ = wasTaken.wait(timeout: .now() + .milliseconds(50))
            try Interruption.check()
        }
    }

    /// Says that nobody takes any more.
    func close() {
        state.withLock { state in
            if case .wanted(let taker) = state { taker.resume(throwing: CancellationError()) }
            state = .closed
        }
        wasTaken.signal()
    }

    private func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { taker in
                state.withLock { state in
                    switch state {
                    case .empty, .wanted: state = .wanted(taker)
                    case .full(let piece):
                        state = .empty
                        taker.resume(returning: piece)
                        wasTaken.signal()
                    case .finished: taker.resume(returning: nil)
                    case .closed: taker.resume(throwing: CancellationError())
                    }
                }
            }
        } onCancel: {
            close()
        }
    }
}
