internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication
internal import SettleScripting
internal import Synchronization

/// The state that all requests of a server share.
final class ServerState: Sendable {
    let options: ServerOptions
    let databases: DatabasePool
    let administration: Administration
    let authenticator: Authenticator
    let access: AccessCheck
    let compactions: Compactions
    /// Searches for damage in the background; `nil` if the options turn it off.
    let scrubber: Scrubber?
    let metrics = Metrics()
    /// Runs the functions of design documents; `nil` if the options name no workers.
    let scripts: Scripts?
    let indexing = IndexingTasks()
    /// The threads that import files.
    let importing = WorkerPool(limit: 4)
    let replications: ReplicationService
    let requestIDs = RequestIDs()
    /// Who was admitted lately to databases of a shared store.
    let readers: AdmittedReaders
    let mobile: MobileService
    /// The threads on which requests continue after their password was verified.
    private let afterLogin = WorkerPool(limit: 16)
    /// Logs created, changed and deleted databases.
    let updates: DatabaseUpdates
    /// Ends feeds and connections whose users have lost access.
    let watch: AccessWatch
    /// The current values of settings that can be changed while the server runs.
    let live: Guarded<LiveSettings>
    /// The options that, together with the stored settings, determine ``live``.
    private let given: Guarded<ServerOptions>
    /// The changes of settings that are not stored, by `section/key`; locked while a setting changes.
    private let changing = Guarded<[String: String]>([:])
    /// The files of the console; `nil` if it is turned off.
    let console: ConsoleFiles?
    /// The server's id, as `GET /` reports it.
    var uuid: String { administration.uuid }

    /// Shared by all servers of a process.
    private static let consoleFiles = ConsoleFiles()

    init(store: any ServerStore, options: ServerOptions) {
        self.options = options
        let given = Guarded(options)
        self.given = given
        mobile = MobileService(memory: options.webSocketMemory)
        let live = Guarded(LiveSettings(options))
        self.live = live
        databases = DatabasePool(store: store, limit: options.openDatabases) { [log = options.log] in
            log?.warning("a copy took the place of the database: its sequences have a new suffix", ["db": $0])
        }
        administration = Administration(options.security, store: store) { stored in
            let settings = LiveSettings(given.withLock(\.self), stored: stored)
            live.withLock { $0 = settings }
        }
        scrubber = options.scrubInterval.map { [databases] in
            Scrubber(databases, Scrubber.Pace(interval: $0), log: options.log)
        }
        authenticator = Authenticator(
            options, administration: administration, databases: databases, afterLogin: afterLogin)
        access = AccessCheck(options: options.security)
        readers = AdmittedReaders(options.security)
        watch = Self.makeWatch(options.accessCheckInterval, databases, administration, authenticator, access)
        console = options.hasConsole ? Self.consoleFiles : nil
        scripts = options.scripts.map { Scripts($0, log: options.log) }
        // In the caller's process `_info` reports a failure to the caller.
        compactions = Compactions(log: options.trustsWriters ? nil : options.log)
        replications = ReplicationService(
            options.replicator, isAdmin: { [administration] in administration.hash(of: $0) != nil }, log: options.log)
        updates = DatabaseUpdates(databases) { [log = options.log] in log?.warning($0) }
    }

    deinit {
        afterLogin.close()
        importing.close()
    }

    /// Applies the new values of options that can change.
    func reload(_ options: ServerOptions) {
        var options = options
        options.security.allowsLiveSettings = self.options.security.allowsLiveSettings
        given.withLock { [options] in $0 = options }
        adoptSettings()
    }

    /// Applies the options, and to them the settings that were changed over HTTP, as far as that is allowed.
    func adoptSettings() {
        changing.withLock { unstored in
            let changes = storesSettings ? administration.storedSettings : unstored
            let settings = LiveSettings(given.withLock(\.self), stored: changes)
            live.withLock { $0 = settings }
        }
    }

    /// Whether changes of settings are stored. On a shared store that includes the switch, which other nodes have to
    /// know.
    private var storesSettings: Bool { options.security.allowsLiveSettings || databases.isShared }

    /// Changes a setting, and stores its text, or keeps it until the server stops. Other threads can read the settings
    /// while this waits for the disk.
    ///
    /// - Parameters:
    ///   - setting: The setting.
    ///   - text: Its new value; `nil` for that of the options.
    /// - Returns: The text of the previous value.
    /// - Throws: ``HTTPError`` with status 400 for an invalid value; ``DatabaseError`` if it can't be stored.
    func change(_ setting: LiveSetting, _ text: String?) throws -> String {
        try changing.withLock { unstored in
            let old = live.withLock(\.self)
            var changed = old
            try setting.set(text ?? setting.text(LiveSettings(given.withLock(\.self))), in: &changed)
            let name = "\(setting.section)/\(setting.key)"
            if storesSettings { try administration.store(text, as: name) } else { unstored[name] = text }
            // On a shared store the stored value applies already, together with changes by other nodes.
            if !databases.isShared { live.withLock { $0 = changed } }
            return setting.text(old)
        }
    }

    /// Creates a database, with the design document that its name requires.
    ///
    /// - Throws: ``DatabaseError`` with code `exists`.
    func create(_ name: String) throws {
        try databases.create(name)
        if name == "_users" { try completeUsers() }
        updates.created(name)
        do { try watchReplications(name) } catch let error as HTTPError where error.status == 404 {
            // Another client has already deleted it.
        }
    }

    /// Starts the replications in the documents of a database, if it is a replicator database.
    func watchReplications(_ name: String) throws {
        guard ReplicatorDocuments.isReplicator(name) else { return }
        replications.watch(name, try databases.open(name))
    }

    /// Starts the replications in the documents of all replicator databases, on a shared store also of those that other
    /// nodes create later.
    func watchAllReplications() throws {
        try replications.watchAll(of: databases)
        if databases.isShared { replications.watchAll(of: databases, every: options.replicatorCheckInterval) }
    }

    /// Ends all replications. They continue when the server is started again.
    func stopReplications(within seconds: Double) { replications.stop(seconds: seconds) }

    /// Creates the databases that a server needs, if they don't exist.
    func makeSystemDatabases() throws {
        for name in ["_users", "_replicator"] {
            do { try databases.create(name) } catch let error as DatabaseError where error.code == .exists {}
        }
        try completeUsers()
    }

    /// Writes the design document that clients expect in `_users`, if it is missing. Its rules are built into the
    /// server.
    private func completeUsers() throws {
        let id = DocumentID(unchecked: "_design/_auth")
        let users = try databases.open("_users")
        guard try users.record(of: id)?.tree.winner?.isDeleted ?? true else { return }
        _ = try users.write([DocumentEdit(id: id, parent: nil, body: ["language": "javascript"])])
    }
}

/// Makes the ids that identify requests in a log: ten hexadecimal digits in no visible order. The ids are not
/// secret.
final class RequestIDs: Sendable {
    private let last = Atomic(UInt64.random(in: 0 ... .max))

    /// Whether text may be the id of a request: as in CouchDB, 1 to 36 letters, digits, dashes and underscores.
    static func isID(_ text: String) -> Bool {
        (1...36).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    /// An id that this process has not used in its last 2⁴⁰ requests.
    func next() -> String {
        // An odd factor maps different numbers to different numbers.
        let number = last.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        let digits = String(number & 0xFF_FFFF_FFFF, radix: 16)
        return String(repeating: "0", count: 10 - digits.utf8.count) + digits
    }
}

// MARK: - Sharing

extension ServerState {
    /// Runs a closure that answers a request, on a thread that may block.
    ///
    /// On a shared store the server first reads what other nodes have changed in the request's database, in
    /// `_users`, and in the server's settings. The result applies until the request is answered. The document that
    /// the request reads first comes in the same round trip.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` when the store can't be reached, and errors of the
    ///   closure.
    func answering<Result>(
        about database: String?, expecting expected: SharedRequest.Expected? = nil, _ body: () throws -> Result
    ) throws -> Result {
        try whileFresh(in: SharedRequest(expecting: expected)) {
            if databases.isShared {
                let names = database.map { $0 != "_users" && DocumentStore.isName($0) ? [$0] : [] } ?? []
                do { try databases.freshen(names + ["_users"]) } catch let error as DatabaseError
                    where error.code == .newerFormat
                {
                    // Another node can answer.
                    throw HTTPError(503, "service_unavailable", error.message)
                }
                try administration.follow()
            }
            return try body()
        }
    }

    /// Creates the watch over open feeds and connections.
    static func makeWatch(
        _ interval: Duration, _ databases: DatabasePool, _ administration: Administration,
        _ authenticator: Authenticator,
        _ access: AccessCheck
    ) -> AccessWatch {
        AccessWatch(every: interval) { grants in
            let ask: () -> [String?] = {
                grants.map { grant in
                    do {
                        if let end = try authenticator.end(of: grant.user) { return end }
                        try access.check(
                            grant.access, grant.user, path: grant.path, database: grant.database, method: "GET",
                            in: databases)
                        return nil
                    } catch let error as HTTPError where error.isAboutRights { return error.reason } catch {
                        // A database that can't be read must not prevent the check of the rest.
                        return nil
                    }
                }
            }
            guard databases.isShared else { return ask() }
            return try Freshness.answering {
                try databases.freshen(Array(Set(grants.compactMap(\.database) + ["_users"])))
                try administration.follow()
                return ask()
            }
        }
    }

    /// Runs a closure that answers a request, or continues one that another thread has begun. It reads the state of
    /// a shared database once, and uses it many times.
    func whileFresh<Result>(in request: SharedRequest, _ body: () throws -> Result) rethrows -> Result {
        databases.isShared ? try Freshness.answering(request, body) : try body()
    }
}
