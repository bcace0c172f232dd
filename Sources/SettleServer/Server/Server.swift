public import SettleDatabase

/// A server of CouchDB's HTTP API over a store of databases.
///
///     let server = Server(store: try Store(path: "data"))
///     try server.start()
///     print(server.port)
///     …
///     server.stop()
///
/// It answers what `docs/COMPATIBILITY.md` lists. For now everybody who can reach it may do everything, so let it listen on
/// the loopback address.
public final class Server: Sendable {
    private let options: ServerOptions
    private let state: ServerState
    private let transport = Guarded<(any HTTPTransport)?>(nil)
    let router: Router

    /// Makes a server that does not listen yet.
    public init(store: Store, options: ServerOptions = ServerOptions()) {
        self.options = options
        state = ServerState(store: store, options: options)
        router = Router(state)
    }

    /// Begins to listen.
    ///
    /// - Throws: An error that says why it can't.
    public func start() throws {
        var settings = TransportOptions()
        settings.host = options.host
        settings.port = options.port
        settings.connectionLimit = options.connectionLimit
        settings.idleTimeout = options.idleTimeout
        settings.bodyLimit = options.largestUpload
        let router = router
        let started = try MicroHTTPDTransport(settings) { router.respond(to: $0) }
        transport.withLock { $0 = started }
    }

    /// The port it listens on, 0 before it does.
    public var port: Int { transport.withLock { $0?.port } ?? 0 }

    /// Stops to listen, lets requests finish, ends feeds, and closes the databases.
    public func stop() {
        let running = transport.withLock { transport in
            defer { transport = nil }
            return transport
        }
        running?.stop(within: options.stopTimeout)
        state.compactions.close()
        state.databases.closeAll()
    }
}
