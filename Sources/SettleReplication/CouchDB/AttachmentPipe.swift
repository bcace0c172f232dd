internal import SettleDatabase
internal import SettlePlatform

/// Turns a source that pushes its pieces into one that is pulled from, with one piece in flight.
///
///     task:  source.read ──→ hand over ─┐                  ┌─ waits until the piece is taken
///                                       ▼                  │
///     next:                       waits for a piece ──→ takes it
///
/// After a cut, the source is read again from the offset reached; it gives up after a few attempts without progress.
final class AttachmentPipe: Sendable {
    private enum State {
        case idle
        /// A piece waits for the reader.
        case full([UInt8], CheckedContinuation<Void, any Error>)
        /// The reader waits for a piece.
        case wanted(CheckedContinuation<[UInt8]?, any Error>)
        case ended(Result<Void, any Error>)
    }

    private let state = Guarded(State.idle)
    private let reader = Guarded<Task<Void, Never>?>(nil)
    /// How many attempts in a row may yield nothing.
    private static let attempts = 4

    /// Starts to read a source.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - length: How many bytes it has.
    init(_ source: any AttachmentSource, length: Int64) {
        let task = Task { [weak self] in
            do {
                try await Self.read(source, length: length) { piece in
                    guard let self else { throw CancellationError() }
                    try await self.put(piece)
                }
                self?.end(.success(()))
            } catch { self?.end(.failure(error)) }
        }
        reader.withLock { $0 = task }
    }

    deinit { cancel() }

    /// Stops reading; waiting readers are notified.
    func cancel() {
        reader.withLock { $0 }?.cancel()
        end(.failure(CancellationError()))
    }

    /// The next piece; `nil` at the end.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting in
                let action = state.withLock { state -> () -> Void in
                    switch state {
                    case .full(let piece, let reader):
                        state = .idle
                        return {
                            waiting.resume(returning: piece)
                            reader.resume()
                        }
                    case .ended(let result): return { waiting.resume(with: result.map { nil }) }
                    case .idle, .wanted:
                        state = .wanted(waiting)
                        return {}
                    }
                }
                action()
            }
        } onCancel: {
            cancel()
        }
    }

    private func put(_ piece: [UInt8]) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let action = state.withLock { state -> () -> Void in
                    switch state {
                    case .wanted(let waiting):
                        state = .idle
                        return {
                            waiting.resume(returning: piece)
                            reader.resume()
                        }
                    case .ended: return { reader.resume(throwing: CancellationError()) }
                    case .idle, .full:
                        state = .full(piece, reader)
                        return {}
                    }
                }
                action()
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        let action = state.withLock { state -> () -> Void in
            let before = state
            if case .ended = before { return {} }
            state = .ended(result)
            switch before {
            case .full(_, let reader): return { reader.resume(throwing: CancellationError()) }
            case .wanted(let waiting): return { waiting.resume(with: result.map { nil }) }
            case .idle, .ended: return {}
            }
        }
        action()
    }

    /// Reads a source to its end, resuming after cuts.
    private static func read(
        _ source: any AttachmentSource, length: Int64, _ body: ([UInt8]) async throws -> Void
    ) async throws {
        var offset: Int64 = 0
        var failures = 0
        while true {
            let start = offset
            do {
                try await source.read(from: start) { piece in
                    try await body(piece)
                    offset += Int64(piece.count)
                }
                break
            } catch let error as PeerError where error.isTransient {
                failures = offset > start ? 1 : failures + 1
                guard failures < attempts else { throw error }
                try await Task.sleep(for: .milliseconds(50 << failures))
            }
        }
        guard offset == length else {
            throw PeerError(.attachmentMissing, "an attachment has \(offset) bytes, where it should have \(length)")
        }
    }
}
