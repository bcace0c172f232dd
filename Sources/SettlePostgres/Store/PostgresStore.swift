internal import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// The databases of a PostgreSQL cluster, which any number of nodes use at the same time.
///
///     let store = try PostgresStore(PostgresConfiguration("host=127.0.0.1 dbname=settle user=settle_app", passwordFile: "secret"))
///     let notes = try store.open("notes")
///
/// A write is acknowledged when PostgreSQL has it on disk, and on its synchronous standbys if it has some. `settle
/// postgres migrate` creates the tables. Names follow CouchDB's rules, as in a ``DocumentStore``.
public final class PostgresStore: Sendable {
    let pool: PostgresPool
    let configuration: PostgresConfiguration
    private let options: DatabaseOptions
    let hub: CommitHub
    let record: PostgresRecord
    private let servedRecord: any ServerRecord
    let uploads = UploadFolder()
    /// The open databases, so that opening a database twice returns the same object.
    private let open = Guarded<[Int64: Open]>([:])

    private struct Open: Sendable {
        let name: String
        weak let database: Database?
        weak let engine: PostgresEngine?
    }

    /// Connects to a cluster.
    ///
    /// - Parameters:
    ///   - configuration: The cluster, and how to connect to it.
    ///   - options: The options of the databases. ``DatabaseOptions/journal`` must not be on.
    ///     ``DatabaseOptions/indexFolder`` gets a subfolder for each database.
    /// - Throws: ``DatabaseError`` with code `unavailable` if the server can't be reached; `storage` if the schema
    ///   is missing or the role may not write; `newerFormat`.
    public convenience init(
        _ configuration: PostgresConfiguration, options: DatabaseOptions = DatabaseOptions()
    ) throws {
        try self.init(configuration, options: options) { $0 }
    }

    /// Connects to a cluster. The settings of servers are stored through another record, which encrypts them.
    package init(
        _ configuration: PostgresConfiguration, options: DatabaseOptions,
        keepingServersIn wrap: (any ServerRecord) throws -> any ServerRecord
    ) throws {
        self.configuration = configuration
        self.options = options
        pool = PostgresPool(configuration)
        hub = CommitHub(pool)
        record = PostgresRecord(pool, place: configuration.place)
        servedRecord = try wrap(record)
        pool.lookAtHosts()
        try pool.checkPooler()
        try checkRights()
        if (try? renewIfRestored()) == true {
            options.log(
                .warning, .database,
                "the tables were restored into another place: the sequences of all databases have new suffixes")
        }
        try hub.start()
    }

    deinit {
        hub.stop()
        pool.close()
    }

    /// Opens a database, or returns the object if this process has it open.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` or `unavailable`.
    public func open(_ name: String) throws -> Database {
        guard DocumentStore.isName(name), let row = try find([name]).first else {
            throw DatabaseError(.notFound, "there is no database \"\(name)\"")
        }
        return try open(row)
    }

    /// Creates a database.
    ///
    /// - Throws: ``DatabaseError`` with code `exists`, `invalid` for an illegal name, or `unavailable`.
    public func create(_ name: String) throws -> Database {
        try make(name)
        return try open(name)
    }

    /// Creates the rows of a new database.
    private func make(_ name: String) throws {
        try DocumentStore.checkName(name)
        let number = Int64.random(in: 1 ... .max)
        let calls = [
            PostgresCall(.begin), PostgresCall(.create, .integer(number), .text(name)),
            PostgresCall(.name, .text(name), .integer(number)),
        ]
        try write { connection in
            guard try connection.run(calls)[2].count == 1 else {
                throw DatabaseError(.exists, "there is a database \"\(name)\" already")
            }
            _ = try connection.run([PostgresCall(.commit)])
        }
    }

    /// The engine of a new database.
    package func newEngine(_ name: String) throws -> any StorageEngine {
        try make(name)
        return try engine(of: name)
    }

    /// Another engine of an existing database.
    package func engine(of name: String) throws -> any LeasingStorage {
        guard let row = try find([name]).first else {
            throw DatabaseError(.notFound, "there is no database \"\(name)\"")
        }
        return engine(row)
    }

    private func engine(_ row: Row) -> PostgresEngine {
        let engine = PostgresEngine(
            row.number, pool, configuration, state: row.state, ring: { [hub] in hub.ring($0, $1) },
            onClose: { [hub] in hub.remove($0, of: row.number) })
        hub.add(engine)
        return engine
    }

    /// Deletes a database on all nodes. Its rows are removed in the background.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` or `unavailable`.
    public func delete(_ name: String) throws {
        var number: Int64 = 0
        try write { connection in
            let gone = try connection.run([PostgresCall(.begin), PostgresCall(.deleteName, .text(name))])[1]
            guard gone.count == 1 else { throw DatabaseError(.notFound, "there is no database \"\(name)\"") }
            number = gone.integer(0, 0)
            _ = try connection.run([PostgresCall(.doom, .integer(number)), PostgresCall(.commit)])
        }
        open.withLock { $0[number]?.database }?.close()
        hub.ringAll()
        hub.keepHouse()
    }

    /// The names of all databases, sorted.
    public func names() throws -> [String] {
        guard let rows = try pool.ask([PostgresCall(.names)]).first else { return [] }
        return rows.map { rows.text($0, 0) }
    }

    /// Runs a closure in a transaction, which is rolled back if the closure throws.
    func write(_ body: (PostgresConnection) throws -> Void) throws {
        try pool.with { connection in
            do { try body(connection) } catch {
                connection.abandonTransaction()
                if let failure = error as? PostgresFailure { throw failure.error }
                throw error
            }
        }
    }

    // MARK: - Open databases

    /// Returns the record of the settings that all nodes share.
    package func serverRecord() -> any ServerRecord { servedRecord }

    /// A row of a database.
    struct Row {
        let name: String
        let number: Int64
        let state: DatabaseState
    }

    /// The rows of databases by name.
    func find(_ names: [String]) throws -> [Row] {
        try pool.ask(finding(names)).flatMap(rows)
    }

    /// The queries whose results ``rows(_:)`` reads, one for each name.
    func finding(_ names: [String]) -> [PostgresCall] { names.map { PostgresCall(.find, .text($0)) } }

    /// The databases of a result.
    func rows(_ rows: PostgresResult) -> [Row] {
        rows.map { row in
            Row(
                name: rows.text(row, 0), number: rows.integer(row, 1),
                state: DatabaseState(
                    sequence: rows.integer(row, 2), settingsAge: rows.integer(row, 3), designAge: rows.integer(row, 4)))
        }
    }

    private func open(_ row: Row) throws -> Database {
        if let database = opened(row.number) { return database }
        // Created without the lock, because that queries PostgreSQL. Of two that are created at once, one is used.
        let engine = engine(row)
        let made = try Database.make(on: engine, options: options(of: row.number))
        return open.withLock { open in
            if let database = open[row.number]?.database, !database.isClosed {
                return database
            }
            engine.onDeletion { [weak made] in made?.close() }
            open[row.number] = Open(name: row.name, database: made, engine: engine)
            if open.count > 64, open.count > 2 * open.values.count(where: { $0.database != nil }) {
                open = open.filter { $0.value.database != nil }
            }
            return made
        }
    }

    /// The options of one database, whose indexes have a separate folder.
    private func options(of number: Int64) -> DatabaseOptions {
        var options = options
        options.indexFolder = options.indexFolder.map { "\($0)/\(number)" }
        return options
    }

    private func opened(_ number: Int64) -> Database? {
        open.withLock { open in open[number]?.database.flatMap { $0.isClosed ? nil : $0 } }
    }

    /// Applies the state of a database that a query, sent at `moment`, has read.
    func follow(_ row: Row, readAt moment: ContinuousClock.Instant) {
        guard let engine = open.withLock({ $0[row.number]?.engine }) else { return }
        engine.follow(row.state, isForeign: true)
        engine.record(readAt: moment)
    }

    /// Closes the databases with these names that are missing in the rows.
    func closeOthers(_ names: [String], _ rows: [Row]) {
        let (wanted, there) = (Set(names), Set(rows.map(\.number)))
        let gone = open.withLock { open in
            open.filter { wanted.contains($0.value.name) && !there.contains($0.key) }.compactMap(\.value.database)
        }
        for database in gone { database.close() }
    }

    private func checkRights() throws {
        guard let rights = try pool.ask([PostgresCall(.rights)]).first, rights.count == 1 else { return }
        try Self.check(rights: rights, warn: options.warn)
    }

    /// Checks that the role may do what a server does, and warns if it may do more.
    static func check(rights: PostgresResult, warn: (String) -> Void) throws {
        if (2...5).contains(where: { !rights.flag(0, $0) }) {
            throw DatabaseError(
                .storage,
                """
                the role may not read and write the tables: `settle postgres migrate --app-role` grants what a server needs
                """)
        }
        if rights.flag(0, 0) || rights.flag(0, 1) {
            warn("the role of the PostgreSQL connection may do more than a server needs: use one without other rights")
        }
    }
}

// MARK: - Copies

extension PostgresStore {
    /// The database that receives a copy. It has no visible name until the copy is complete. A copy that was begun
    /// before is continued.
    ///
    /// - Throws: ``DatabaseError`` with code `exists` if a database has this name, `invalid` for an illegal name.
    package func beginCopy(_ name: String) throws -> Database {
        try DocumentStore.checkName(name)
        guard try find([name]).isEmpty else {
            throw DatabaseError(.exists, "there is a database \"\(name)\" already")
        }
        let number: Int64
        if let begun = try pool.ask([PostgresCall(.findCopy, .text(name))]).first, begun.count > 0 {
            number = begun.integer(0, 0)
        } else {
            number = Int64.random(in: 1 ... .max)
            try write { _ = try $0.run([PostgresCall(.startCopy, .integer(number), .text(name))]) }
        }
        let state = try DatabaseState(PostgresReader(number, pool).ask(.state))
        return try open(Row(name: "", number: number, state: state))
    }

    /// Gives a complete copy its name.
    ///
    /// - Throws: ``DatabaseError`` with code `exists` if another database has taken the name meanwhile.
    package func endCopy(_ name: String) throws {
        try write { connection in
            let begun = try connection.run([PostgresCall(.begin), PostgresCall(.findCopy, .text(name))])[1]
            guard begun.count > 0 else { throw DatabaseError(.notFound, "there is no copy to \"\(name)\"") }
            let number = PostgresValue.integer(begun.integer(0, 0))
            let named = try connection.run([
                PostgresCall(.endCopy, number), PostgresCall(.name, .text(name), number),
            ])
            guard named[1].count == 1 else {
                throw DatabaseError(.exists, "there is a database \"\(name)\" already")
            }
            _ = try connection.run([PostgresCall(.commit)])
        }
    }
}

// MARK: - Database Store

extension PostgresStore: DatabaseStore, ServerStore {
    /// The hosts, the port and the database of the cluster.
    public var place: String { configuration.place }

    /// True: any number of nodes use it.
    package var isShared: Bool { true }

    /// Returns whether a database with this name exists.
    public func contains(_ name: String) throws -> Bool {
        guard DocumentStore.isName(name) else { return false }
        return try !find([name]).isEmpty
    }

    /// Returns a list that is read each time.
    package func nameList() -> any DatabaseNameList { PostgresNames(pool: pool) }

    /// Reads in one round trip what other nodes have changed, and the document that the request reads first.
    package func freshen(_ names: [String]) throws {
        let names = names.filter(DocumentStore.isName)
        let (begin, request) = (ContinuousClock.now, Freshness.request)
        let others = [PostgresCall(.version), PostgresCall(.serverVersion, .text(PostgresRecord.name))]
        // PostgreSQL takes no text with U+0000.
        let expected = request?.expected.flatMap { DocumentStore.isName($0.database) ? $0 : nil }
        let ahead = expected.map { expected in
            PostgresCall(
                .shortDocument, .text(expected.database), .bytes(Array(expected.id.string.utf8)),
                .integer(Self.longestAhead))
        }
        var results = try pool.ask(finding(names) + others + (ahead.map { [$0] } ?? []))
        if let expected, let result = results.popLast(), let read = result.readAhead(expected.id) {
            request?.keep(read)
        }
        if let version = results.popLast(), version.count > 0 { record.recordVersion(version.integer(0, 0)) }
        if let version = results.popLast(), version.count > 0 { try pool.check(version: version.integer(0, 0)) }
        let rows = results.flatMap(rows)
        for row in rows { follow(row, readAt: begin) }
        closeOthers(names, rows)
    }

    /// The length of the longest body that is read ahead, in bytes.
    private static let longestAhead: Int64 = 65_536

    /// Sends a write that changes nothing, if the last write got no answer.
    package func checkWrites() throws { try pool.checkWrites() }

    /// The numbers of connections, waiting writes, and leases.
    package var numbers: [StoreNumber] {
        let load = pool.load
        return [
            StoreNumber("connections_in_use", "connections to PostgreSQL that are in use", load.lent),
            StoreNumber("connections_idle", "connections to PostgreSQL that are idle", load.idle),
            StoreNumber("connections_limit", "connections to PostgreSQL at most", configuration.connections),
            StoreNumber("connection_waiters", "threads that wait for a connection to PostgreSQL", load.counts.waiting),
            StoreNumber(
                "connection_waits", "how often a thread waited for a connection to PostgreSQL", load.counts.waits,
                isCounter: true),
            StoreNumber(
                "connection_refusals", "how often no connection to PostgreSQL became free in time",
                load.counts.refusals, isCounter: true),
            StoreNumber(
                "connections_opened", "connections that were made to PostgreSQL", load.counts.opened, isCounter: true),
            StoreNumber(
                "connection_failures", "attempts to connect to PostgreSQL that failed", load.counts.failures,
                isCounter: true),
            StoreNumber("commit_queue", "writes of this node that wait for their turn", hub.waitingWrites),
            StoreNumber(
                "leases", "jobs whose leases this node holds",
                pool.leases.withLock { $0.values.reduce(0) { $0 + $1.count } }),
        ]
    }

    /// The path of this node's temporary folder, which is created at the first call.
    package func uploadFolder() throws -> String { try uploads.path() }
}
