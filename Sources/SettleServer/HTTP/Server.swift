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
/// `docs/COMPATIBILITY.md` lists the supported requests. Every administrator needs a password: if none was set,
/// create one with ``makeAdministrator()``.
public final class Server: Sendable {
    private let options: ServerOptions
    let state: ServerState
    /// The current listener is the last one. The listeners before it were replaced, but still have connections.
    private let listeners = Monitor<[any HTTPListener]>([])
    /// The current options, which ``reload(_:)`` replaces.
    private let given: Guarded<ServerOptions>
    /// Held while options are reloaded.
    private let reloading = Guarded(())
    let router: Router

    /// Creates a server of the databases in a folder. It does not listen yet. Only one server may use a folder at a
    /// time.
    ///
    /// - Parameters:
    ///   - store: The folder.
    ///   - options: The address, limits and security.
    public convenience init(store: DocumentStore, options: ServerOptions = ServerOptions()) {
        self.init(serving: store, options)
    }

    /// Creates a server of the databases in a store. It does not listen yet.
    ///
    /// - Parameters:
    ///   - store: A ``DocumentStore``, or a `PostgresStore`. Any number of servers may share a `PostgresStore`;
    ///     each of them can answer any request.
    ///   - options: The address, limits and security.
    /// - Throws: ``DatabaseError`` with code `invalid` for any other kind of store.
    public convenience init(store: any DatabaseStore, options: ServerOptions = ServerOptions()) throws {
        guard let store = store as? any ServerStore else {
            throw DatabaseError(.invalid, "\(store.place) can't be served; use a DocumentStore or a PostgresStore")
        }
        self.init(serving: store, options)
    }

    private init(serving store: any ServerStore, _ options: ServerOptions) {
        var options = options
        // Without files it still keeps the newest lines in memory, for administrators.
        options.log = options.log ?? ServerLog()
        self.options = options
        given = Guarded(options)
        state = ServerState(store: store, options: options)
        router = Router(state)
    }

    /// Starts to listen.
    ///
    /// Only one server may use a folder at a time. The folder is locked from this call, or the first one that sets an
    /// administrator, until ``stop()``.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another server uses the folder; an error with the reason if
    ///   it can't listen, such as a port that is in use. Then nothing listens.
    public func start() throws {
        try state.administration.load()
        state.adoptSettings()
        try state.makeSystemDatabases()
        try state.updates.resume()
        ImportFolder.removeLeftovers(in: try state.databases.makeUploadFolder())
        let started = try MicroHTTPDListener(listenerOptions(options), handler: handler)
        state.metrics.setConnections { [weak self] in self?.load.connections ?? 0 }
        listeners.update { $0 = [started] }
        given.withLock { $0 = options }
        state.scrubber?.start()
        // Replications start after the listener, because their peer may be this server.
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
        if let log = options.log {
            settings.observer = { log.request($0) }
            settings.observesAll = log.hasRequests
        }
        return settings
    }

    /// Applies the new values of options that can change while the server runs. A server that does not listen
    /// applies none.
    ///
    /// These options are the certificate with its key, ``ServerOptions/connectionLimit``,
    /// ``ServerOptions/idleTimeout``, ``ServerOptions/largestDocument``, ``ServerOptions/largestUpload``,
    /// ``ServerOptions/bulkDocuments``, ``ServerOptions/bulkGets``, ``ServerOptions/decodesPlusToSpace``,
    /// ``ServerOptions/makesTextIndexes``, and of ``SecurityOptions`` the allowed origins and whether the security
    /// object of `_users` may be changed. Settings that were changed over HTTP still take precedence.
    /// The first three options apply to new connections; open connections keep the old values, and close after
    /// their next response.
    ///
    /// - Parameter options: The new options. Values that can't change are ignored.
    /// - Throws: ``DatabaseError`` with code `invalid` if TLS would be turned on or off; an error with the reason
    ///   if a certificate can't be used. Then nothing has changed.
    public func reload(_ options: ServerOptions) throws {
        guard (options.certificate == nil) == (self.options.certificate == nil) else {
            throw DatabaseError(.invalid, "TLS can't be turned on or off while the server runs; restart it")
        }
        // One reload at a time, because each replaces the listener of the one before.
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
                // The server was stopped meanwhile, so nothing is applied.
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

    /// Stops a listener when it has no connections left.
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

    /// Creates the administrator `admin` with a random password, if neither the options nor
    /// ``setAdministrator(_:password:)`` have set an administrator.
    ///
    /// Only a hash is stored, so show the password to the person who runs the server.
    ///
    /// - Returns: The password; `nil` if there are administrators already.
    /// - Throws: ``DatabaseError`` when the stored settings can't be read or written.
    public func makeAdministrator() throws -> String? { try state.administration.makeFirst() }

    /// Sets an administrator's password, and stores its hash. A folder's hash is in the server's settings file,
    /// which only its owner may read; a shared store's is for all nodes.
    ///
    /// - Parameters:
    ///   - name: The administrator's name.
    ///   - password: The password.
    /// - Throws: ``DatabaseError`` for an invalid name or password, or when the settings can't be written.
    public func setAdministrator(_ name: String, password: String) throws {
        try state.administration.set(name, password: Array(password.utf8))
    }

    /// Accepts an administrator's password at once, so that a server need not compare it with the stored hash before
    /// it listens. Set it afterwards: until then, the password of that hash is accepted as well.
    ///
    /// - Parameters:
    ///   - name: The administrator's name.
    ///   - password: The password.
    /// - Returns: Whether the password is accepted. Without a stored hash it is not; set it before the server listens.
    /// - Throws: ``DatabaseError`` for an invalid name or password, or when the settings can't be read.
    package func acceptAdministrator(_ name: String, password: String) throws -> Bool {
        try state.administration.accept(name, password: Array(password.utf8))
    }

    /// The port of the listener; 0 before the server listens.
    public var port: Int { listeners.withLock { $0.last?.port } ?? 0 }

    /// The number of connections, and of requests that are not completed.
    var load: (connections: Int, requests: Int) {
        listeners.withLock { listeners in
            listeners.reduce((0, 0)) { ($0.0 + $1.load.connections, $0.1 + $1.load.requests) }
        }
    }

    /// Stops listening, lets requests finish, ends feeds, and closes the databases.
    ///
    /// From this call on, the server accepts no connections, answers new requests on open connections with 503, and
    /// closes each connection after its response. Requests and replications have nine tenths of
    /// ``ServerOptions/stopTimeout`` to finish; then they are cut off.
    public func stop() {
        let end = ContinuousClock.now + options.stopTimeout * 0.9
        // The scrubber is waited for at the end; until then it has time to notice.
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
