internal import CSQLite
internal import SettleCore
internal import SettlePlatform

/// The storage engine on SQLite: in a file with a write-ahead log, or in memory.
///
/// One connection writes. A ``WriteQueue`` decides which thread uses it and when it commits, and this class performs the actions.
/// A few other connections read, each a snapshot, and never wait for a write. In memory there is one connection, and reads take
/// turns with writes.
///
/// If the disk is full, SQLite may roll back the whole transaction at once. Then every write in it fails.
///
/// Unchecked: the lock of `queue` gives `writer` to the thread that performs an action, one at a time; the rest is constant
/// or guarded by a lock of its own (`Guarded`).
final class SQLiteEngine: StorageEngine, @unchecked Sendable {
    private let queue: WriteQueue
    private var writer: SQLiteWriter
    private let owner = Guarded<ThreadID?>(nil)
    private let pool: ReaderPool?
    private let listener = Guarded<Listener?>(nil)
    /// The listener of commits. A closure alone would be wrapped in a new object each time it is read from behind the lock.
    private struct Listener: Sendable {
        let notify: @Sendable (CommitNotice) -> Void
    }

    /// The maximum number of writes that share a commit.
    private static let largestBatch = 256
    /// The cache size that a reader needs for the upper pages of its tables.
    private static let leastReaderCache = 2 << 20

    /// Opens a database file; `nil` creates an empty database in memory.
    ///
    /// It writes nothing before it has checked the file.
    init(
        path: String?, durability: Durability, cacheBytes: Int, readers: Int = 4, leavesShortLog: Bool = false,
        emptiesLog: Bool = false, sizes: CountSizes = CountSizes()
    ) throws {
        let connection = try SQLiteConnection(path: path ?? ":memory:")
        connection.leavesShortLog = leavesShortLog
        if let path {
            guard try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0 > 0 else {
                throw DatabaseError(.corrupt, "\(path) has no tables; a database has. Restore it from a copy")
            }
            try SQLiteSchema.check(connection)
            let reader = SQLiteReader(connection)
            _ = (try reader.lastSequence, try reader.expirations(through: .max, limit: 1))
            try SQLiteSchema.migrate(connection)
            try SQLiteSchema.useLog(connection)
        } else {
            try SQLiteSchema.create(on: connection)
        }
        try SQLiteSchema.configure(connection, durability: durability, cacheBytes: cacheBytes)
        // The log has frames that can't be used. This is still the only connection to the file.
        if emptiesLog { _ = try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") }
        writer = SQLiteWriter(connection, sizes)
        queue = WriteQueue(largestBatch: path == nil ? 1 : Self.largestBatch)
        let readerCache = min(cacheBytes, max(cacheBytes / 4, Self.leastReaderCache))
        pool = path.map { path in
            ReaderPool(limit: readers) {
                let connection = try SQLiteConnection(path: path, readOnly: true)
                try SQLiteSchema.configure(connection, durability: durability, cacheBytes: readerCache)
                return SQLiteReader(connection, sizes)
            }
        }
    }

    /// The number of writers that wait for their turn.
    var waitingWrites: Int { queue.waitingCount }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) {
        listener.withLock { $0 = Listener(notify: notify) }
    }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if isWriting { return try body(writer) }
        guard let pool else { return try exclusively { try body(writer) } }
        return try pool.read(body)
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        if isWriting { return try body(writer) }
        guard let pool else { return try exclusively { try body(writer) } }
        return try pool.read { reader in
            guard !reader.connection.isInTransaction else { return try body(reader) }
            try reader.connection.statement(.beginSnapshot).run()
            defer { reader.endSnapshot() }
            return try body(reader)
        }
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        if isWriting { return try joined(body) }
        let result = Guarded<Result?>(nil)
        let job: WriteTurn.Job = { [self] in
            let made = try body(writer)
            result.withLock { $0 = made }
        }
        try queue.run(WriteTurn(job: job), on: self, job)
        return try Self.found(result.withLock { $0 })
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        if isWriting { return try joined(body) }
        return try held(body)
    }

    private func held<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        var result: Result?
        try queue.run(WriteTurn(), on: self) { result = try body(writer) }
        return try Self.found(result)
    }

    private static func found<Result>(_ result: Result?) throws -> Result {
        guard let result else { throw DatabaseError(.storage, "a write ended before its turn; nothing was written") }
        return result
    }

    var isWriting: Bool { owner.withLock { $0 } == ThreadID.current }

    /// Runs a closure within the write of this thread. Inside an exclusive read it is a separate transaction.
    private func joined<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        if writer.hasBegun { return try writer.joined { try body(writer) } }
        do {
            try writer.begin()
            let result = try writer.whole { try body(writer) }
            try writer.commit()
            announce()
            return result
        } catch {
            writer.rollBack()
            throw error
        }
    }

    /// Runs a closure on the writing connection between two transactions.
    private func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        var result: Result?
        try queue.run(WriteTurn(), on: self, alone: true) { result = try body() }
        return try Self.found(result)
    }

    /// Lets this thread use the writing connection in a closure.
    private func owning(_ body: () throws -> Void) rethrows {
        owner.withLock { $0 = ThreadID.current }
        defer { owner.withLock { $0 = nil } }
        try body()
    }

    private func announce() {
        for action in writer.nesting.dequeueActions() { action() }
        if let listener = listener.withLock({ $0 }), let newest = try? writer.lastSequence {
            listener.notify(CommitNotice(sequence: newest))
        }
    }

    func close() {
        pool?.close()
        // Inside a write of this thread the connection is needed until that ends.
        queue.close(self, waits: !isWriting)
    }
}

// MARK: - Queue

extension SQLiteEngine: QueuedStorage {
    func run(_ place: WritePlace, _ body: () throws -> Void) throws {
        try owning {
            switch place {
            case .alone: try body()
            case .savepoint: try writer.part(body)
            case .transaction:
                try writer.begin()
                try writer.whole(body)
            }
        }
    }

    var hasTransaction: Bool { writer.connection.isInTransaction }

    func commitTransaction() throws {
        try owning {
            try writer.commit()
            announce()
        }
    }

    func rollBackTransaction() { writer.rollBack() }

    func closeConnection() {
        if let empty = try? SQLiteConnection(path: ":memory:") { writer = SQLiteWriter(empty) }
    }
}

// MARK: - Capabilities

extension SQLiteEngine: PromptStorage, JournalStorage, RestorableStorage, MaintainedStorage {
    func shortRecord(of id: DocumentID, maximumBytes: Int) throws -> DocumentRecord? {
        guard let pool, !isWriting else { throw NotAtHand() }
        return try pool.readIfFree { try $0.shortRecord(of: id, maximumBytes: maximumBytes) }
    }

    func removeJournal() throws { try ownWriter().removeJournal() }

    func restore(_ record: DocumentRecord) throws { try ownWriter().restore(record) }

    func restoreSequence(_ sequence: UpdateSequence) throws { try ownWriter().restoreSequence(sequence) }

    /// The writer, in a write of this thread.
    private func ownWriter() throws -> SQLiteWriter {
        guard isWriting else { throw DatabaseError(.invalid, "this belongs into a transaction") }
        return writer
    }

    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport {
        if case .reclaimSpace = task { return try reclaimSpace() }
        if isWriting { return try writer.report(on: task) }
        guard let pool else { return try exclusively { try writer.report(on: task) } }
        return try pool.read { try $0.report(on: task) }
    }

    private func reclaimSpace() throws -> MaintenanceReport {
        guard !isWriting else {
            throw DatabaseError(.invalid, "space can't be reclaimed inside a transaction or a snapshot; do it after")
        }
        var report = MaintenanceReport()
        report.isDurable = try exclusively {
            // SQLite makes a copy that is as large as the file, so it must be on the disk.
            try joined { _ in try writer.rebuildCounts() }
            try writer.connection.execute("PRAGMA temp_store = FILE")
            defer { try? writer.connection.execute("PRAGMA temp_store = MEMORY") }
            try writer.connection.execute("VACUUM")
            return try writer.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
        }
        return report
    }
}

// MARK: - Create

extension SQLiteEngine {
    /// Creates the file of an empty database. After a crash, the file is either complete or does not exist under
    /// its name.
    ///
    /// The file is created under another name, without a log or journal, forced to the disk at once, and renamed.
    /// So the file's own first page identifies it from the beginning: if the process is killed before the first
    /// checkpoint, ``FileHeader`` can still recognize the file.
    static func create(_ files: DatabaseFiles) throws {
        for leftOver in files.unfinished { try removeIfThere(leftOver) }
        try create(files.unfinishedDatabase)
        try renameDurably(files.unfinishedDatabase, to: files.database)
        try synchronizeFolder(above: files.folder)
    }

    /// Creates the file of an empty database if it does not exist, for an engine without a database folder.
    static func createIfMissing(_ path: String) throws {
        if (try? FileHandleReader(path: path)) == nil { try create(path) }
    }

    private static func create(_ path: String) throws {
        try fill(path)
        try FileHandleWriter(path: path, goesOn: true).synchronize()
    }

    /// Creates the file without waiting for the disk: after a crash it is created again.
    private static func fill(_ path: String) throws {
        let connection = try SQLiteConnection(path: path)
        try connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
        try SQLiteSchema.create(on: connection)
        try connection.useLog()
    }
}

// MARK: - SQLiteStorage

/// Creates the built-in storage engines, for code that wraps or tests an engine. All other code opens a ``Database``.
public enum SQLiteStorage {
    /// Creates an engine in memory, whose documents are gone with it.
    public static func inMemory() throws -> any StorageEngine {
        try SQLiteEngine(path: nil, durability: .normal, cacheBytes: DatabaseOptions().cacheBytes)
    }

    /// Creates an engine in a SQLite file, and the file if it is missing. Unlike ``Database/open(_:options:)`` it does not keep
    /// other processes from opening the file.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt`, `newerFormat` or `inputOutput`.
    public static func file(_ path: String, durability: Durability = .normal) throws -> any StorageEngine {
        try SQLiteEngine.createIfMissing(path)
        return try SQLiteEngine(path: path, durability: durability, cacheBytes: DatabaseOptions().cacheBytes)
    }
}

// MARK: - SQLiteFileSystem

/// SQLite's way of opening and locking files: one of its `sqlite3_vfs`.
///
/// A database belongs to one process at a time, so SQLite does not need to request a lock from the system at each
/// read and write. With `unix-excl` it takes one lock for the whole file, and its connections share their state in
/// memory.
struct SQLiteFileSystem: Sendable {
    /// Its name in SQLite; `nil` for SQLite's default, which is `unix`.
    let name: String?
    /// A warning for the app; `nil` if nothing is wrong.
    let warning: String?

    /// The file system for all files of this process.
    static let standard = find("unix-excl")

    /// The file system with a name, or SQLite's default if this build of SQLite does not have it.
    static func find(_ name: String) -> SQLiteFileSystem {
        guard sqlite3_vfs_find(name) == nil else { return SQLiteFileSystem(name: name, warning: nil) }
        let warning = "this SQLite has no \(name): each read and write takes a separate lock, which is slower"
        return SQLiteFileSystem(name: nil, warning: warning)
    }
}
