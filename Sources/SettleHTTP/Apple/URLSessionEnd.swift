#if canImport(Darwin) || SETTLE_APPLE
internal import Foundation
internal import SettlePlatform

/// Ends a transfer of `URLSession`: when its task is cancelled, its response is released, or it takes too long.
final class URLSessionEnd: Sendable {
    private struct State {
        var reason: TransportError?
        var cancel: (@Sendable () -> Void)?
        var watch: Task<Void, Never>?
    }

    private let request: HTTPRequest
    private let state = Guarded(State())

    /// Starts to measure the total time of a request.
    init(_ request: HTTPRequest) {
        self.request = request
        guard let timeout = request.timeout else { return }
        let message = "the request to \(request.url.authority) took longer than \(timeout)"
        let watch = Task { [weak self] in
            guard (try? await Task.sleep(for: timeout.bounded)) != nil else { return }
            self?.end(TransportError(.timedOut, message))
        }
        state.withLock { $0.watch = watch }
    }

    deinit { state.withLock { $0.watch }?.cancel() }

    /// Sets the closure that ends the transfer; it is called at once if the transfer has ended.
    func onEnd(_ cancel: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.cancel = cancel
            return state.reason != nil
        }
        if isOver { cancel() }
    }

    /// Ends the transfer; the first reason counts.
    func end(_ reason: TransportError) {
        let cancel = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.cancel
        }
        cancel?()
    }

    /// Ends a transfer whose response was released.
    func finish() { end(TransportError(.cancelled, "the request to \(request.url.authority) was cancelled")) }

    /// Runs a step of the transfer. Errors become ``TransportError``, and cancelling the task ends the transfer.
    func guarded<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await withTaskCancellationHandler {
            if let reason = state.withLock({ $0.reason }) { throw reason }
            do { return try await body() } catch {
                throw state.withLock { $0.reason } ?? URLSessionFailure.error(error, request.url)
            }
        } onCancel: {
            finish()
        }
    }
}
#endif
