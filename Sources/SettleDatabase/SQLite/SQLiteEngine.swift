internal import SettlePlatform

/// The storage engine on SQLite: in a file with a write-ahead log, or in memory.
///
/// One connection writes, and those who want to write take turns on it (``WriteQueue``); a few others read, each a
/// snapshot, and never wait for a write. In memory there is one connection, and reads take turns with writes.
///
/// When the disk is full SQLite may undo the whole transaction at once. From then on each part of it fails, so that none
/// is committed alone, and those who wait for the commit are told.
///
/// Unchecked: `writer`, `batch`, `writesInBatch`, `doomed`, `undone` and `isClosing` belong to whoever holds the turn of
/// `queue`; the rest is constant or behind a lock of its own (`Guarded`).
final class SQLiteEngine: StorageEngine, @unchecked Sendable {
    private let queue = WriteQueue()
    private var writer: SQLiteWriter
    private var batch: WriteQueue.Batch?
    private var writesInBatch = 0
    /// Why the open write can't succeed any more, though its closure may have gone on.
    private var doomed: (any Error)?
    private var isClosing = false
    /// Why SQLite undid the open transaction, if it did.
    private var undone: (any Error)?
    private let owner = Guarded<ThreadID?>(nil)
    private let pool: ReaderPool?
    private let isClosed = Guarded(false)
    private let listener = Guarded<Listener?>(nil)
    /// The listener of commits; a closure alone would be wrapped anew at each look behind the lock.
    private struct Listener: Sendable {
        let notify: @Sendable (UpdateSequence) -> Void
    }

    /// The most writes that share a commit.
    private static let largestBatch = 256
    /// What a reader needs for the upper pages of its tables.
    private static let leastReaderCache = 2 << 20

    /// Opens a file that is a database; `nil` stands for memory, where an empty one is made.
    ///
    /// Nothing is written before the file was looked at.
    init(path: String?, durability: Durability, cacheBytes: Int, readers: Int = 4) throws {
        let connection = try SQLiteConnection(path: path ?? ":memory:")
        if let path {
            guard try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0 > 0 else {
                throw DatabaseError(.corrupt, "\(path) has no tables; a database has. Restore it from a copy")
            }
            try SQLiteSchema.check(connection)
            let reader = SQLiteReader(connection)
            _ = (try reader.lastSequence, try reader.nextExpiration())
            try SQLiteSchema.migrate(connection)
            try connection.execute("PRAGMA journal_mode = WAL")
        } else {
            try SQLiteSchema.create(on: connection)
        }
        try SQLiteSchema.configure(connection, durability: durability, cacheBytes: cacheBytes)
        writer = SQLiteWriter(connection)
        let readerCache = min(cacheBytes, max(cacheBytes / 4, Self.leastReaderCache))
        pool = path.map { path in
            ReaderPool(limit: readers) {
                let connection = try SQLiteConnection(path: path, readOnly: true)
                try SQLiteSchema.configure(connection, durability: durability, cacheBytes: readerCache)
                return SQLiteReader(connection)
            }
        }
    }

    var readsInParallel: Bool { pool != nil }

    func onCommit(_ notify: @escaping @Sendable (UpdateSequence) -> Void) {
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
            defer { try? reader.connection.statement(.commit).run() }
            return try body(reader)
        }
    }

    func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        if isWriting { return try joined(body) }
        try Waiting.check()
        try queue.enter()
        return try writeInTurn(body)
    }

    /// Writes once it is this thread's turn, and waits for the commit.
    private func writeInTurn<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try begun()
        let result: Result
        do {
            // SQLite undoes the whole transaction when the disk is full; then those who took part are told, and this
            // write begins anew.
            if batch != nil, !writer.connection.isInTransaction { try? commit() }
            if batch == nil { try begin() }
            result = try writesInBatch == 0 ? whole(body) : part(body)
            writesInBatch += 1
            doJobs()
        } catch {
            // The first write of a batch is alone in the transaction; a later one has undone its part.
            if writesInBatch == 0 { rollBack() }
            if batch != nil { try? commitOrPassOn(waitingFor: nil) } else { leave() }
            throw error
        }
        let waiter = WriteQueue.Waiter()
        try commitOrPassOn(waitingFor: waiter)
        return result
    }

    func writeByAnyThread<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Result
    ) throws -> Result {
        // In memory a write is not shared, and inside another one it is a part of that.
        guard pool != nil, !isWriting else { return try write(body) }
        try Waiting.check()
        let outcome = Guarded<Swift.Result<Result, any Error>?>(nil)
        try queue.enter { [self] in
            let result = Swift.Result { try part(body) }
            outcome.withLock { $0 = result }
            if case .success = result { return true }
            return false
        }
        if let done = outcome.withLock({ $0 }) { return try done.get() }
        return try writeInTurn(body)
    }

    func writeSeparately<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        isWriting ? try part(body) : try write(body)
    }

    var isWriting: Bool { owner.withLock { $0 } == ThreadID.current }

    private func enter() throws {
        try Waiting.check()
        try queue.enter()
        try begun()
    }

    /// Takes note that it is this thread's turn.
    private func begun() throws {
        if isClosed.withLock({ $0 }) {
            queue.leave()
            throw DatabaseError(.closed, "the database was closed")
        }
        owner.withLock { $0 = ThreadID.current }
    }

    private func leave() {
        if isClosing {
            isClosing = false
            letGo()
        }
        owner.withLock { $0 = nil }
        queue.leave()
    }

    /// Does what others have left to be done while they wait, as parts of the open transaction.
    private func doJobs() {
        while let batch, pool != nil, !isClosing, writesInBatch < Self.largestBatch,
            writer.connection.isInTransaction, let waiter = queue.takeNextWithJob()
        {
            if waiter.job?() == true {
                batch.add(waiter)
                writesInBatch += 1
            } else {
                waiter.wake(nil)
            }
        }
    }

    private func begin() throws {
        try writer.connection.statement(.begin).run()
        batch = WriteQueue.Batch()
        writesInBatch = 0
        undone = nil
    }

    private func rollBack() {
        if writer.connection.isInTransaction { try? writer.connection.statement(.rollback).run() }
        writer.forget()
        writer.forgetCommitActions(after: 0)
        batch = nil
    }

    /// Ends this thread's turn: leaves the commit to the next that waits, or commits.
    private func commitOrPassOn(waitingFor waiter: WriteQueue.Waiter?) throws {
        guard let batch else { return leave() }
        let isShared = writer.connection.isInTransaction && pool != nil && !isClosing
        if isShared, queue.isAwaited, writesInBatch < Self.largestBatch {
            if let waiter { batch.add(waiter) }
            leave()
            try waiter?.wait()
            return
        }
        defer { leave() }
        try commit()
    }

    /// Commits the open transaction, if there is one, and tells all who took part in it how that went.
    private func commit() throws {
        guard let batch else { return }
        do {
            try checkTransaction()
            try writer.connection.statement(.commit).run()
        } catch {
            rollBack()
            batch.finish(error)
            throw error
        }
        self.batch = nil
        announce()
        batch.finish(nil)
    }

    /// Throws when SQLite has undone the open transaction.
    private func checkTransaction() throws {
        guard !writer.connection.isInTransaction else { return }
        throw undone ?? DatabaseError(.diskFull, "the storage undid the transaction this write was a part of; retry")
    }

    private func announce() {
        for action in writer.takeCommitActions() { action() }
        if let listener = listener.withLock({ $0 }), let newest = try? writer.lastSequence { listener.notify(newest) }
    }

    /// Runs a closure as all there is in the open transaction so far.
    private func whole<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        doomed = nil
        let result = try body(writer)
        if let doomed { throw doomed }
        return result
    }

    /// Runs a closure that shares the fate of the write around it: if it fails half way, that one can't succeed.
    private func joined<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        guard writer.connection.isInTransaction else { return try part(body) }
        let before = writer.changes
        do { return try body(writer) } catch {
            if writer.changes != before, doomed == nil { doomed = error }
            throw error
        }
    }

    /// Runs a closure as a part of the open transaction that can fail alone.
    private func part<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        let connection = writer.connection
        let outer = doomed
        doomed = nil
        defer { doomed = outer }
        // Without a batch this is a write inside an exclusive read, and the savepoint a transaction of its own.
        let isOutermost = batch == nil
        let actions = writer.commitActions.count
        if isOutermost { undone = nil } else { try checkTransaction() }
        try connection.statement(.savepoint).run()
        do {
            let result = try body(writer)
            if let doomed { throw doomed }
            try checkTransaction()
            try connection.statement(.release).run()
            if isOutermost { announce() }
            return result
        } catch {
            if connection.isInTransaction {
                do {
                    try connection.statement(.rollbackToSavepoint).run()
                    try connection.statement(.release).run()
                } catch {
                    // A part that can't be undone alone takes the whole transaction with it.
                    try? connection.statement(.rollback).run()
                }
            } else if undone == nil {
                undone = error
            }
            writer.forget()
            writer.forgetCommitActions(after: actions)
            throw error
        }
    }

    /// Runs a closure on the writing connection between two transactions.
    private func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try enter()
        defer { leave() }
        // Whether the writes of others could be committed is told to them and is not this one's failure.
        try? commit()
        return try body()
    }

    func reclaimSpace() throws -> Bool {
        guard !isWriting else {
            throw DatabaseError(.invalid, "space can't be reclaimed inside a transaction or a snapshot; do it after")
        }
        return try exclusively {
            // The copy that is made meanwhile is as large as the file, and belongs on the disk.
            try writer.connection.execute("PRAGMA temp_store = FILE")
            defer { try? writer.connection.execute("PRAGMA temp_store = MEMORY") }
            try writer.connection.execute("VACUUM")
            return try writer.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
        }
    }

    func integrityProblems() throws -> [String] {
        let check = { (reader: SQLiteReader) -> [String] in
            let rows = try SQLiteStatement("PRAGMA integrity_check(100)", on: reader.connection).all { $0.string(0) }
            let odd = try [
                ("documents WHERE flags NOT IN (0, 1, 2, 3)", "documents have flags that never were"),
                ("blobs WHERE typeof(digest) <> 'blob' OR length(digest) <> 32", "attachment contents have no digest"),
            ].compactMap { rows, problem -> String? in
                let count = try reader.connection.integer("SELECT count(*) FROM \(rows)") ?? 0
                return count == 0 ? nil : "\(count) \(problem)"
            }
            return (rows == ["ok"] ? [] : rows) + odd
        }
        if isWriting { return try check(writer) }
        guard let pool else { return try exclusively { try check(writer) } }
        return try pool.read(check)
    }

    func sizeOnDisk() throws -> Int64 { try bytes(inPagesOf: "page_count") }

    func freeBytes() throws -> Int64 { try bytes(inPagesOf: "freelist_count") }

    private func bytes(inPagesOf count: String) throws -> Int64 {
        try read { reader in
            guard let reader = reader as? SQLiteReader else { return 0 }
            let pages = try reader.connection.integer("PRAGMA \(count)") ?? 0
            return pages * (try reader.connection.integer("PRAGMA page_size") ?? 0)
        }
    }

    func close() {
        guard
            !isClosed.withLock({ wasClosed in
                defer { wasClosed = true }
                return wasClosed
            })
        else { return }
        pool?.close()
        // Inside a transaction of this thread the connection is needed until that ends.
        if isWriting {
            isClosing = true
            return
        }
        guard (try? queue.enter()) != nil else { return }
        letGo()
        queue.leave()
    }

    /// Ends what is open and closes the writing connection, by the one whose turn it is.
    private func letGo() {
        try? commit()
        if let empty = try? SQLiteConnection(path: ":memory:") { writer = SQLiteWriter(empty) }
    }
}
