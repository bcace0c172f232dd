internal import SettleDatabase
internal import SettlePlatform

/// A response as a handler gives it to a transport.
struct HTTPResponse: Sendable {
    /// What follows the header.
    enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Made while it is sent; of a length that may be known.
        case stream(any ResponseStream, length: Int64?)
        /// Another response, with a status and headers of its own, once it is there.
        case later(DeferredResponse)
        /// Nothing: with the status 101 the connection is no longer HTTP's, and this gets its socket.
        case upgrade(@Sendable (UpgradedSocket) -> Void)
    }

    /// The status code.
    var status: Int
    /// The header fields, but for those the transport writes itself: length, encoding of transfer, date, connection.
    var headers: HTTPHeaders
    /// The body.
    var body: Body
    /// Who asked, for the log.
    var user: String?
    /// The error behind a status from 500 on, for a client in the same process; it is never sent.
    var cause: (any Error)?

    init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

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
