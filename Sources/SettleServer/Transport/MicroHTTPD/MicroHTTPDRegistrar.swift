internal import SettleDatabase
internal import SettlePlatform

/// What the library's callbacks need: how requests are handled, and how many are under way.
final class MicroHTTPDRegistrar: Sendable {
    struct State {
        var daemon: Lent<OpaquePointer>?
        /// How many requests are under way.
        var requests = 0
        /// Whether the listener has begun to stop.
        var isDraining = false
        /// Whether the library has given the listening socket back, which was closed then.
        var isQuiesced = false
    }

    private let options: ListenerOptions
    private let pools: WorkerPools
    private let handler: HTTPHandler
    private let state: Monitor<State>
    private let gate: RequestGate
    let watch: ConnectionWatch

    init(
        options: ListenerOptions, pools: WorkerPools, handler: HTTPHandler, state: Monitor<State>,
        gate: RequestGate, watch: ConnectionWatch
    ) {
        self.gate = gate
        self.watch = watch
        self.options = options
        self.pools = pools
        self.handler = handler
        self.state = state
    }

    /// Begins an exchange when a request's first line was read.
    func begin(_ pointer: OpaquePointer, of connection: MicroHTTPDConnection, _ text: String) -> MicroHTTPDExchange {
        let exchange = MicroHTTPDExchange(
            pointer, peer: connection.peer, target: RequestTarget(text, plusIsBlank: options.plusIsBlank()),
            options: options, pools: pools, handler: handler, gate: gate)
        state.withLock { $0.requests += 1 }
        connection.set(exchange)
        return exchange
    }

    /// Forgets an exchange that is over.
    func complete(_ exchange: MicroHTTPDExchange, of connection: MicroHTTPDConnection, isCut: Bool) {
        exchange.complete(isCut: isCut)
        connection.set(nil)
        state.update { $0.requests -= 1 }
    }
}
