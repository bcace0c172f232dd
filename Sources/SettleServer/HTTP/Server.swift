public import SettleDatabase
internal import SettleHTTP
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
    /// The current listener is the last one. Those before it were replaced, and still have connections.
    private let listeners = Monitor<[any HTTPListener]>([])
    /// The current options.
    private let given: Guarded<ServerOptions>
    /// Held while options are reloaded.
    private let reloading = Guarded(())
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
        given = Guarded(options)
        state = ServerState(store: store, options: options)
        router = Router(state)
    }

    /// Begins to listen.
    ///
    /// Only one server may use a folder at a time. The folder is locked from this call, or the first one that sets an
    /// administrator, until ``stop()``.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` when another server has the folder; an error that says why it can't
    ///   listen, such as a port that is taken. Then nothing listens.
    public func start() throws {
        try state.administration.load()
        state.restoreSettings()
        try state.makeSystemDatabases()
        try state.updates.resume()
        let started = try MicroHTTPDListener(listenerOptions(options), handler: handler)
        state.metrics.setConnections { [weak self] in self?.load.connections ?? 0 }
        listeners.update { $0 = [started] }
        given.withLock { $0 = options }
        state.scrubber?.start()
        // Replications start after the server listens, because they may be with this server.
        try state.watchAllReplications()
    }

    private var handler: HTTPHandler {
        let router = router
        return HTTPHandler(
            plan: { router.plan($0) }, admit: { router.admit($0, then: $1) }, refuse: { router.refuse($0) })
    }

    private func listenerOptions(_ given: ServerOptions) throws -> ListenerOptions {
        var settings = ListenerOptions()
        settings.host = options.host
        settings.port = options.port
        settings.connectionLimit = given.connectionLimit
        settings.idleTimeout = given.idleTimeout.wholeSeconds
        settings.bodyLimit = { [live = state.live] in live.withLock { Int64($0.largestUpload) } }
        settings.plusIsBlank = { [live = state.live] in live.withLock(\.decodesPlusToSpace) }
        settings.certificate = given.certificate
        if state.databases.isShared { settings.waitForNetwork() }
        settings.uploadFolder = try state.databases.makeUploadFolder()
        settings.trustedProxies = TrustedProxies(options.security.trustedProxies)
        settings.warn = { [log = options.log] in log?.warning($0) }
        if let log = options.log, log.takesRequests { settings.observer = { log.request($0) } }
        return settings
    }

    /// Applies the new options that can change while the server runs; a server that does not listen applies none.
    ///
    /// That is the certificate with its key, ``ServerOptions/connectionLimit``, ``ServerOptions/idleTimeout``,
    /// ``ServerOptions/largestDocument``, ``ServerOptions/largestUpload``, ``ServerOptions/makesTextIndexes``, and of
    /// ``SecurityOptions`` the allowed origins and whether the security object of `_users` may be changed. What was changed over HTTP
    /// and stored still counts. The first three apply to new connections: open ones keep the old ones, and end after their next answer.
    ///
    /// - Parameter options: The new options; what can't change is ignored.
    /// - Throws: ``DatabaseError`` with code `invalid` if TLS were turned on or off, and an error that says why a certificate can't be
    ///   used. Then nothing has changed.
    public func reload(_ options: ServerOptions) throws {
        guard (options.certificate == nil) == (self.options.certificate == nil) else {
            throw DatabaseError(.invalid, "TLS can't be turned on or off while the server runs; restart it")
        }
        // One after the other: the next one replaces the listener of this one.
        try reloading.withLock { _ in try apply(options) }
    }

    private func apply(_ options: ServerOptions) throws {
        guard let current = listeners.withLock(\.last) else { return }
        let old = given.withLock(\.self)
        if options.certificate != old.certificate || options.connectionLimit != old.connectionLimit
            || options.idleTimeout != old.idleTimeout
        {
            var settings = try listenerOptions(options)
            do { settings.inherited = try current.copySocket() } catch {
                // The server was stopped meanwhile, and so it applies none.
                guard listeners.withLock({ $0.last === current }) else { return }
                throw error
            }
            let started = try MicroHTTPDListener(settings, handler: handler)
            let isRunning = listeners.update { listeners in
                // The server may have been stopped meanwhile.
                guard listeners.last === current else { return false }
                listeners.append(started)
                return true
            }
            guard isRunning else { return started.stop(within: 0) }
            current.retire()
            endWhenUnused(current)
        }
        given.withLock { $0 = options }
        state.reload(options)
    }

    /// Stops a listener once it has no connections left.
    private func endWhenUnused(_ listener: any HTTPListener) {
        let listeners = listeners
        // If no thread can start, the listener stays until the server stops.
        try? SystemThread.detach {
            while listeners.wait(seconds: 1, for: { $0.contains { $0 === listener } ? nil : true }) == nil {
                guard listener.load.connections == 0 else { continue }
                listeners.update { $0.removeAll { $0 === listener } }
                listener.stop(within: 0)
            }
        }
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
    public var port: Int { listeners.withLock { $0.last?.port } ?? 0 }

    /// How many connections there are, and how many requests are under way.
    var load: (connections: Int, requests: Int) {
        listeners.withLock { listeners in
            listeners.reduce((0, 0)) { ($0.0 + $1.load.connections, $0.1 + $1.load.requests) }
        }
    }

    /// Stops to listen, lets requests finish, ends feeds, and closes the databases.
    ///
    /// From this call on, the server takes no connections, answers new requests on open connections with 503, and closes each
    /// connection after its answer. Requests and replications have nine tenths of ``ServerOptions/stopTimeout`` to finish; then they
    /// are cut off.
    public func stop() {
        let end = ContinuousClock.now + options.stopTimeout * 0.9
        // It is waited for at the end, when it had the time of the requests to notice.
        state.scrubber?.stopSoon()
        let running = listeners.update { listeners in
            defer { listeners = [] }
            return listeners
        }
        for listener in running { listener.drain() }
        state.stopReplications(within: (end - .now).inSeconds)
        for listener in running.reversed() { listener.stop(within: (end - .now).inSeconds) }
        state.watch.close()
        state.scripts?.close()
        state.compactions.close()
        state.updates.stop()
        state.scrubber?.stop()
        state.databases.closeAll()
        state.administration.unload()
    }
}
