internal import SettlePlatform

/// Asks a ``ResponseStream`` for its pieces, one at a time, and ends it when it is let go of.
final class StreamReader: Sendable {
    private struct State {
        var hasBegun = false
        var isWoken = false
        var sleeper: CheckedContinuation<Void, Never>?
    }

    private let stream: any ResponseStream
    private let workers: WorkerPool
    private let state = Guarded(State())

    init(_ stream: any ResponseStream, _ workers: WorkerPool) {
        self.stream = stream
        self.workers = workers
    }

    deinit { stream.end() }

    /// Reads the next piece.
    ///
    /// - Parameter server: The server of the stream, which stays as long as the stream is read.
    /// - Returns: The piece; `nil` after the last.
    /// - Throws: What the stream throws, and `CancellationError`.
    func next(of server: InProcessServer) async throws -> [UInt8]? {
        while true {
            let step: ResponseStep = try await workers.value { [self] taker in
                taker(Result { try self.step() })
            }
            switch step {
            case .piece(let piece): if !piece.isEmpty { return piece }
            case .end: return nil
            case .wait: await sleep()
            }
            try Task.checkCancellation()
        }
    }

    private func step() throws -> ResponseStep {
        let begins = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        if begins { stream.begin { [weak self] in self?.wake() } }
        return try stream.next()
    }

    private func wake() {
        let sleeper = state.withLock { state in
            state.isWoken = state.sleeper == nil
            defer { state.sleeper = nil }
            return state.sleeper
        }
        sleeper?.resume()
    }

    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper in
                let isWoken = state.withLock { state in
                    defer { state.isWoken = false }
                    if !state.isWoken { state.sleeper = sleeper }
                    return state.isWoken
                }
                if isWoken || Task.isCancelled { wakeUp(sleeper, isWoken) }
            }
        } onCancel: {
            wake()
        }
    }

    /// Resumes one that must not sleep: it was woken before it slept, or its task is cancelled.
    private func wakeUp(_ sleeper: CheckedContinuation<Void, Never>, _ isWoken: Bool) {
        if isWoken { sleeper.resume() } else { wake() }
    }
}
