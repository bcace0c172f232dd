/// What the library's callbacks need: how requests are handled, and which are under way.
final class MicroHTTPDRegistrar: Sendable {
    struct State {
        var daemon: OpaquePointer?
        var exchanges: [ObjectIdentifier: MicroHTTPDExchange] = [:]
    }

    private let options: TransportOptions
    private let pools: WorkerPools
    private let handler: HTTPHandler
    private let state: Monitor<State>
    let watch: ConnectionWatch

    init(
        options: TransportOptions, pools: WorkerPools, handler: @escaping HTTPHandler, state: Monitor<State>,
        watch: ConnectionWatch
    ) {
        self.watch = watch
        self.options = options
        self.pools = pools
        self.handler = handler
        self.state = state
    }

    /// Begins an exchange when a request's first line was read.
    func begin(_ connection: OpaquePointer, _ text: String) -> MicroHTTPDExchange {
        let exchange = MicroHTTPDExchange(
            connection, target: RequestTarget(text), options: options, pools: pools, handler: handler)
        state.withLock { $0.exchanges[ObjectIdentifier(exchange)] = exchange }
        watch.set(exchange, of: connection)
        return exchange
    }

    /// Forgets an exchange that is over.
    func complete(_ exchange: MicroHTTPDExchange, of connection: OpaquePointer, isCut: Bool) {
        exchange.complete(isCut: isCut)
        watch.set(nil, of: connection)
        state.update { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
    }
}
