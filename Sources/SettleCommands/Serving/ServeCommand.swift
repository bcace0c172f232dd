internal import Foundation
internal import Settle
internal import SettleDatabase
internal import SettlePlatform
internal import SettlePostgres
internal import SettleReplication
internal import SettleServer

/// `settle serve`: serves a folder of databases, or those of a PostgreSQL, by CouchDB's HTTP API.
enum ServeCommand: Command {
    static let spec = CommandSpec(
        "serve", "serve a folder of databases by CouchDB's HTTP API",
        discussion: """
            It runs until Ctrl-C or SIGTERM, then gives requests 90 % of --stop-timeout to finish, nine seconds by \
            default; a second Ctrl-C ends it at once. An administrator needs a password. The first start without one \
            gives "admin" a random password, which is printed once and stored only as a hash. --admin sets a password \
            of your own: put it into a file, or into the environment as SETTLE_ADMIN_PASSWORD. After the name, as in \
            --admin anna:secret, other users of the machine can see it.

            Each option is also an environment variable, --tls-cert for one SETTLE_TLS_CERT, and a member of the \
            configuration file, "tls_cert". An option overrides a variable, a variable the file, the file the default. \
            The file is JSON; lines that begin with // are comments. See docs/OPERATION.md.

            Starts, stops and warnings are logged to standard error, in the format of --log-format. SIGHUP reopens the \
            file of --access-log after a rotation, and reads the configuration file and the certificate again. Passwords, \
            cookies and tokens are never logged.

            With --postgres any number of servers serve the databases of one PostgreSQL, on any machines. Each of them \
            answers any request, and administrators are the same on all. The connection string has no password: put \
            that into the file of --postgres-password-file.
            """,
        options: ServeSetting.all.compactMap(\.option) + [
            Option("--show-settings", "print the configuration with its sources, without secrets, and exit")
        ],
        examples: [
            CommandSpec.Example("settle serve", "serves ./data on http://127.0.0.1:5984"),
            CommandSpec.Example(
                "SETTLE_ADMIN_PASSWORD=secret settle serve --data /srv/settle --admin anna",
                "with an administrator whose password is hidden from other users"),
            CommandSpec.Example(
                "settle serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem", "for other machines, over TLS"),
            CommandSpec.Example(
                "SETTLE_ADMIN_PASSWORD=secret settle serve --host 0.0.0.0 --admin anna --preset obsidian",
                "for Obsidian's Self-hosted LiveSync"),
            CommandSpec.Example(
                "settle serve --config settle.json --show-settings",
                "prints the configuration of a file, and starts nothing"),
            CommandSpec.Example(
                "settle serve --postgres 'host=db.example dbname=settle user=settle_app sslmode=verify-full' --postgres-password-file pw",
                "as one of many servers of a PostgreSQL"),
            CommandSpec.Example(
                "settle serve --data /srv/settle --port 0 --json", "on a free port, which is printed"),
        ],
        json: """
            one line once it listens: {"ok":true,"url":…,"port":N,"console":url,"data":…,"admin":name,"password_from":text}, with \
            "password" if it made one, and with --postgres "postgres" and "node" for "data"; with --show-settings {"ok":true,"settings":{name:{"value":…,"source":…} …}}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let settings = try ServeSettings(
            invocation.arguments, environment: ProcessInfo.processInfo.environment
        ) { Array(try text(of: $0).utf8) }
        let administrator = try AdministratorSetting(settings)
        let isSecure = try isTLSWanted(settings)
        let hasTerminal = isatty(0) == 1 && !settings.hasLogFile
        if invocation.arguments.flag("--show-settings") {
            try invocation.console.print(settings.table, json: settings.json)
            return .success
        }
        // Remove them from the environment of this process and of its children, where other users could read them.
        for name in ["SETTLE_ADMIN", "SETTLE_ADMIN_PASSWORD"] { unsetenv(name) }
        var options = settings.options
        let password = try administrator.map(password)
        if isSecure { options.certificate = try certificate(settings) }
        raiseFileLimit()
        ProcessMemory.sharePools()
        // Block the signals before the first thread is created, so that they are delivered to `sigwait`.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let log = try settings.log
        defer { log.close() }
        options.log = log
        options.scripts = OwnProgram.scriptOptions
        for warning in warnings(settings, administrator) + warnings(of: options.certificate)
            + fileWarnings(options)
        { log.warning(warning) }
        var storeOptions = DatabaseOptions()
        storeOptions.durability = .full
        // Each database has several connections, and the system caches its pages, too.
        storeOptions.cacheBytes = 2 << 20
        // The server refuses larger documents itself; the databases must not refuse those that it allows.
        storeOptions.maximumDocumentSize = max(storeOptions.maximumDocumentSize, options.largestDocument)
        storeOptions.openIndexes = settings.count("open_indexes") ?? storeOptions.openIndexes
        storeOptions.warn = { log.warning($0) }
        let store = try ServedStore.make(settings, storeOptions)
        let server = try Server(store: store, options: options)
        let given = administrator.flatMap { one in password.map { (name: one.name, password: $0) } }
        let isAccepted = try given.map { try server.acceptAdministrator($0.name, password: $0.password) } ?? true
        if let given, !isAccepted { try server.setAdministrator(given.name, password: given.password) }
        let made = try server.makeAdministrator()
        do { try server.start() } catch { throw CommandError("listen", "\(error)", status: .inputOutput) }
        let announcement = ServeAnnouncement(
            place: store.place, node: settings.postgres?.node, host: options.host, port: server.port,
            isSecure: isSecure, hasConsole: options.hasConsole, administrator: administrator, made: made)
        try invocation.console.print(announcement.text, json: announcement.json)
        try invocation.console.output.flush()
        // The server answers while the password is compared with the stored hash, which is slow on purpose.
        if let given, isAccepted { try server.setAdministrator(given.name, password: given.password) }
        if !invocation.console.isQuiet {
            log.notice("start", announcement.fields)
        }
        var current = (settings: settings, options: options)
        let signal = wait(&signals, hasTerminal: hasTerminal) {
            log.reopen()
            log.notice("reopen")
            reload(server, invocation.arguments, &current, log)
        }
        // A second signal ends the process, but a SIGHUP from a closed terminal does not.
        Foundation.signal(SIGHUP, SIG_IGN)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        // Running requests are aborted when the time is over. Stopping takes a moment longer, even if the time is
        // 0.
        endLater(max(options.stopTimeout, .seconds(1)) + .seconds(2), log)
        server.stop()
        if !invocation.console.isQuiet { log.notice("stop", ["signal": "\(signal)"]) }
        return .success
    }

    /// Waits for a signal that ends the server. SIGHUP reloads the configuration. If the server runs in a terminal
    /// and has no log file, SIGHUP ends it, because the terminal was closed.
    private static func wait(_ signals: inout sigset_t, hasTerminal: Bool, reload: () -> Void) -> Int32 {
        while true {
            var signal: Int32 = 0
            sigwait(&signals, &signal)
            if signal != SIGHUP || hasTerminal { return signal }
            reload()
        }
    }

    /// Reads the configuration and the certificate again, and applies the settings that can change while the server runs. If one of
    /// the files can't be used, nothing changes.
    private static func reload(
        _ server: Server, _ arguments: Arguments, _ current: inout (settings: ServeSettings, options: ServerOptions),
        _ log: ServerLog
    ) {
        do {
            let settings = try ServeSettings(
                arguments, environment: ProcessInfo.processInfo.environment
            ) { Array(try text(of: $0).utf8) }
            var options = settings.options
            if try isTLSWanted(settings) { options.certificate = try certificate(settings) }
            try server.reload(options)
            let names = settings.changes(from: current.settings)
            let taken = names.filter(ServeSettings.reloadable.contains)
            if options.certificate != current.options.certificate || !taken.isEmpty {
                let isRenewed = options.certificate != current.options.certificate
                log.notice(
                    "reload", ["settings": taken.joined(separator: " "), "certificate": isRenewed ? "renewed" : "same"])
            }
            let rest = names.filter { !ServeSettings.reloadable.contains($0) }
            if !rest.isEmpty { log.warning("restart the server to change \(rest.joined(separator: ", "))") }
            for warning in warnings(of: options.certificate) { log.warning(warning) }
            current = (settings, options)
        } catch {
            let reason = (error as? CommandError)?.message ?? "\(error)"
            log.warning("the configuration was not reloaded: \(reason)")
        }
    }

    /// Ends the process if stopping takes too long, for example because a database is being compacted. Acknowledged
    /// writes are on disk.
    private static func endLater(_ time: Duration, _ log: ServerLog) {
        // If the thread can't be started, stopping has no time limit.
        try? SystemThread.detach {
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end { usleep(10_000) }
            log.warning("the time to stop is over, but a database is still at work; the server ends now")
            log.close()
            _exit(0)
        }
    }

    private static func password(_ administrator: AdministratorSetting) throws -> String {
        switch administrator.place {
        case .given(let password): return password
        case .file(let path):
            let line = try text(of: path).prefix { $0 != "\n" && $0 != "\r\n" }
            if !line.isEmpty { return String(line) }
            throw CommandError.usage("the file of --admin-password-file begins with an empty line", verb: spec.name)
        }
    }

    /// Warnings for the operator.
    private static func warnings(_ settings: ServeSettings, _ administrator: AdministratorSetting?) -> [String] {
        var warnings: [String] = []
        if administrator?.isVisible == true {
            warnings.append(
                "other users of this machine can see the password of --admin: "
                    + "better put it into SETTLE_ADMIN_PASSWORD, or into a file for --admin-password-file")
        }
        var info = stat()
        if let path = settings.text("config"), settings.holdsSecrets, stat(path, &info) == 0, info.st_mode & 0o044 != 0
        {
            warnings.append("other users of this machine can read the secrets in \(path): chmod 600 it")
        }
        return warnings
    }

    /// Warnings about a certificate that clients don't accept.
    private static func warnings(of certificate: Certificate?) -> [String] {
        guard let end = certificate?.end else { return [] }
        let left = end.timeIntervalSince(Date())
        let day = end.formatted(.iso8601.year().month().day())
        if left < 0 { return ["the certificate in tls_cert has expired on \(day): clients refuse it"] }
        return left < 7 * 86_400 ? ["the certificate in tls_cert expires on \(day)"] : []
    }

    private static func isTLSWanted(_ settings: ServeSettings) throws -> Bool {
        let isGiven = settings.text("tls_cert") != nil
        if isGiven == (settings.text("tls_key") != nil) { return isGiven }
        throw CommandError.usage("--tls-cert and --tls-key must be given together", verb: spec.name)
    }

    private static func certificate(_ settings: ServeSettings) throws -> Certificate? {
        guard let chain = settings.text("tls_cert"), let key = settings.text("tls_key") else { return nil }
        return Certificate(chain: try text(of: chain), key: try text(of: key))
    }

    private static func text(of path: String) throws -> String {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch {
            throw CommandError("read", "can't read \(path)", status: .inputOutput)
        }
    }

    /// Raises the limit of open files. Each connection and each open database needs file descriptors, and the soft
    /// limit may be lower than allowed.
    private static func raiseFileLimit() {
        guard let (_, highest) = ResourceLimit.openFiles.value else { return }
        ResourceLimit.openFiles.set(min(highest, 65_536), highest: highest)
    }

    /// Warnings about a limit of open files that is too low for the connections.
    private static func fileWarnings(_ options: ServerOptions) -> [String] {
        guard let (current, _) = ResourceLimit.openFiles.value, current < UInt64(options.connectionLimit) else {
            return []
        }
        return [
            """
            the system allows this process \(current) open files, and `connections` is \(options.connectionLimit): further \
            connections will wait or be refused; raise the limit (ulimit -n, LimitNOFILE), or lower the setting
            """
        ]
    }
}

// MARK: - ServedStore

/// The store that `settle serve` serves: a folder, or a PostgreSQL.
enum ServedStore {
    /// Creates the store that the settings name.
    ///
    /// - Throws: ``DatabaseError`` for a store that can't be used, ``CommandError`` for a key file without a key.
    static func make(_ settings: ServeSettings, _ options: DatabaseOptions) throws -> any DatabaseStore {
        guard let postgres = settings.postgres else {
            return try DocumentStore(path: settings.text("data") ?? "data", options: options)
        }
        var configuration = try PostgresConfiguration(
            postgres.address, passwordFile: postgres.passwordFile, node: postgres.node)
        configuration.connections = postgres.connections
        var options = options
        options.indexFolder = postgres.indexFolder
        return try PostgresStore(configuration, options: options) { record in
            try postgres.secretsKeyFile.map { try SealedRecord(record, keyFile: $0) } ?? record
        }
    }
}

// MARK: - SealedRecord

/// The settings of servers, encrypted with a key of the operator, so that a backup of the database alone does not
/// allow anyone to log in.
struct SealedRecord: ServerRecord {
    private let record: any ServerRecord
    private let key: [UInt8]

    /// Creates a record that stores its content in another one.
    ///
    /// - Parameters:
    ///   - record: The record with the encrypted settings.
    ///   - path: The file of the key: 64 hexadecimal digits.
    /// - Throws: ``CommandError`` for a file that can't be read or does not contain a key.
    init(_ record: any ServerRecord, keyFile path: String) throws {
        self.record = record
        let text = try? String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isWhitespace).first
        guard let key = text.flatMap({ Hexadecimal.decode(String($0)) }), key.count == SealedBytes.keyLength else {
            throw CommandError(
                "read", "\(path) has no key: it needs 64 hexadecimal digits, as `openssl rand -hex 32` writes",
                status: .inputOutput)
        }
        self.key = key
    }

    var place: String { record.place }

    func reserve() throws { try record.reserve() }

    func release() { record.release() }

    func read() throws -> (bytes: [UInt8], version: Int64)? {
        guard let found = try record.read() else { return nil }
        do throws(SealedBytes.Fault) {
            return (try SealedBytes(found.bytes).opened(key: key), found.version)
        } catch {
            throw DatabaseError(
                .invalid,
                "\(record.place) can't be decrypted: this node has another key than the node that made them, or none was used then"
            )
        }
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        let sealed: SealedBytes
        do { sealed = try SealedBytes(sealing: bytes, key: key) } catch {
            throw DatabaseError(.storage, "\(record.place) could not be encrypted")
        }
        return try record.write(sealed.bytes, replacing: version)
    }

    var newestVersion: Int64? { record.newestVersion }
}
