public import SettleDatabase
internal import SettlePlatform

/// A server of CouchDB's HTTP API over a store of databases.
///
///     let server = Server(store: try DocumentStore(path: "data"))
///     try server.start()
///     print(server.port)
///     …
///     server.stop()
///
/// It answers what `docs/COMPATIBILITY.md` lists. Nobody is an administrator without a password: when none was set, ask for
/// one by ``makeAdministrator()``.
public final class Server: Sendable {
    private let options: ServerOptions
    let state: ServerState
    private let transport = Guarded<(any HTTPListener)?>(nil)
    let router: Router

    /// Makes a server of the databases in a folder, which does not listen yet. One server has a folder at a time.
    ///
    /// - Parameters:
    ///   - store: The folder.
    ///   - options: How it listens, and what it allows.
    public convenience init(store: DocumentStore, options: ServerOptions = ServerOptions()) {
        self.init(serving: store, options)
    }

    /// Makes a server of the databases in a store, which does not listen yet.
    ///
    /// - Parameters:
    ///   - store: Where the databases are: a ``DocumentStore``, or a `PostgresStore` of which any number of servers may be nodes, each
    ///     of which can answer any request.
    ///   - options: How it listens, and what it allows.
    /// - Throws: ``DatabaseError`` with code `invalid` for another store.
    public convenience init(store: any DatabaseStore, options: ServerOptions = ServerOptions()) throws {
        guard let store = store as? any ServerStore else {
            throw DatabaseError(.invalid, "\(store.place) can't be served; use a DocumentStore or a PostgresStore")
        }
        self.init(serving: store, options)
    }

    private init(serving store: any ServerStore, _ options: ServerOptions) {
        self.options = options
        state = ServerState(store: store, options: options)
        router = Router(state)
    }

    /// Begins to listen.
    ///
    /// One server has a folder at a time, from this call or the first one that sets an administrator until ``stop()``.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` when another server has the folder; an error that says why it can't
    ///   listen, such as a port that is taken. Then nothing listens.
    public func start() throws {
        try state.administration.load()
        state.restoreSettings()
        try state.makeSystemDatabases()
        try state.updates.resume()
        var settings = ListenerOptions()
        settings.host = options.host
        settings.port = options.port
        settings.connectionLimit = options.connectionLimit
        settings.idleTimeout = options.idleTimeout.wholeSeconds
        settings.bodyLimit = { [live = state.live] in live.withLock { Int64($0.largestUpload) } }
        settings.plusIsBlank = { [live = state.live] in live.withLock(\.decodesPlusToSpace) }
        settings.certificate = options.certificate
        if state.databases.isShared { settings.waitForNetwork() }
        settings.uploadFolder = try state.databases.makeUploadFolder()
        settings.trustedProxies = TrustedProxies(options.security.trustedProxies)
        settings.warn = { [log = options.log] in log?.warning($0) }
        if let log = options.log, log.takesRequests { settings.observer = { log.request($0) } }
        let router = router
        let handler = HTTPHandler(plan: { router.plan($0) }, admit: { router.admit($0) })
        let started = try MicroHTTPDListener(settings, handler: handler)
        state.metrics.setConnections { [weak started] in started?.load.connections ?? 0 }
        transport.withLock { $0 = started }
        // After it listens, for they may be with this very server.
        try state.watchAllReplications()
    }

    /// Makes the administrator `admin` with a random password when the server has none, neither by its options nor by
    /// ``setAdministrator(_:password:)``.
    ///
    /// Only a hash is kept, so show the password to whoever runs the server.
    ///
    /// - Returns: The password, or `nil` when there are administrators already.
    /// - Throws: ``DatabaseError`` when the stored settings can't be read or written.
    public func makeAdministrator() throws -> String? { try state.administration.makeFirst() }

    /// Sets an administrator's password and stores its hash: in a folder in the server's settings file, which only its owner may
    /// read, in a shared store for all nodes.
    ///
    /// - Parameters:
    ///   - name: The administrator's name.
    ///   - password: The password.
    /// - Throws: ``DatabaseError`` for a name or a password that may not be, or when the settings can't be written.
    public func setAdministrator(_ name: String, password: String) throws {
        guard !name.isEmpty, !name.hasPrefix("_"), !name.utf8.contains(UInt8(ascii: ":")), !password.isEmpty else {
            throw DatabaseError(
                .invalid, "an administrator needs a password, and a name without a colon or an underscore in front")
        }
        try state.administration.set(name, password: Array(password.utf8))
    }

    /// The port it listens on, 0 before it does.
    public var port: Int { transport.withLock { $0?.port } ?? 0 }

    /// How many connections there are, and how many requests are under way.
    var load: (connections: Int, requests: Int) { transport.withLock { $0?.load } ?? (0, 0) }

    /// Stops to listen, lets requests finish, ends feeds, and closes the databases.
    public func stop() {
        let running = transport.withLock { transport in
            defer { transport = nil }
            return transport
        }
        state.stopReplications(within: options.stopTimeout.inSeconds)
        running?.stop(within: options.stopTimeout.inSeconds)
        state.scripts?.close()
        state.compactions.close()
        state.updates.stop()
        state.databases.closeAll()
        state.administration.unload()
    }
}
