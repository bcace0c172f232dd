internal import SettleDatabase
internal import SettlePlatform

/// A response that comes later, while no thread waits for it.
final class DeferredResponse: Sendable {
    private struct State {
        var response: HTTPResponse?
        var takers: [@Sendable (HTTPResponse) -> Void] = []
    }

    private let state = Guarded(State())

    /// Gives the response; only the first one counts.
    func fulfil(_ response: HTTPResponse) {
        let takers = state.withLock { state -> [@Sendable (HTTPResponse) -> Void] in
            guard state.response == nil else { return [] }
            state.response = response
            defer { state.takers = [] }
            return state.takers
        }
        for taker in takers { taker(response) }
    }

    /// Has a closure called with the response: now, or when it comes, on the thread that gives it.
    func whenReady(_ taker: @escaping @Sendable (HTTPResponse) -> Void) {
        let response = state.withLock { state in
            if state.response == nil { state.takers.append(taker) }
            return state.response
        }
        if let response { taker(response) }
    }

    /// The same response, changed.
    func map(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> DeferredResponse {
        let other = DeferredResponse()
        whenReady { other.fulfil(change($0)) }
        return other
    }
}
