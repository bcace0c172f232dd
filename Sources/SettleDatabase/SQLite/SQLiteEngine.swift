internal import Synchronization

/// The storage engine on SQLite: in a file with a write-ahead log, or in memory.
///
/// One connection writes, and those who want to write take turns on it (``WriteQueue``); a few others read, each a
/// snapshot, and never wait for a write. In memory there is one connection, and reads take turns with writes.
///
/// Unchecked: `writer`, `batch`, `parts` and `isFailing` belong to whoever holds the turn of `queue`; the rest is
/// constant or guarded by a Mutex of its own.
final class SQLiteEngine: StorageEngine, @unchecked Sendable {
    private let queue = WriteQueue()
    private var writer: SQLiteWriter
    private var batch: WriteQueue.Batch?
    private var writesInBatch = 0
    private let owner = Mutex<ThreadID?>(nil)
    private let pool: ReaderPool?
    private let isClosed = Mutex(false)
    private let notify = Mutex<(@Sendable (UpdateSequence) -> Void)?>(nil)
    /// The most writes that share a commit.
    private static let largestBatch = 256

    /// Opens a database that exists, or creates its tables in an empty file; `nil` stands for memory.
    init(path: String?, durability: Durability, cacheBytes: Int, readers: Int = 4) throws {
        let connection = try SQLiteConnection(path: path ?? ":memory:")
        if try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
            try SQLiteSchema.create(on: connection)
        } else {
            try SQLiteSchema.migrate(connection)
        }
        // Only now: so the file's header, by which it is known as ours, is in the file itself and not in the log alone.
        if path != nil { try connection.execute("PRAGMA journal_mode = WAL") }
        try SQLiteSchema.configure(connection, durability: durability, cacheBytes: cacheBytes)
        writer = SQLiteWriter(connection)
        pool = path.map { path in
            ReaderPool(limit: readers) {
                let connection = try SQLiteConnection(path: path, readOnly: true)
                try SQLiteSchema.configure(connection, durability: durability, cacheBytes: cacheBytes)
                return SQLiteReader(connection)
            }
        }
    }

    var readsInParallel: Bool { pool != nil }

    func onCommit(_ notify: @escaping @Sendable (UpdateSequence) -> Void) {
        self.notify.withLock { $0 = notify }
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
        if isWriting { return try part(body) }
        try enter()
        let result: Result
        do {
            if batch == nil { try begin() }
            result = try writesInBatch == 0 ? body(writer) : part(body)
            writesInBatch += 1
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

    /// Whether this thread is inside a write.
    private var isWriting: Bool { owner.withLock { $0 } == ThreadID.current }

    private func enter() throws {
        try queue.enter()
        if isClosed.withLock({ $0 }) {
            queue.leave()
            throw DatabaseError(.closed, "the database was closed")
        }
        owner.withLock { $0 = ThreadID.current }
    }

    private func leave() {
        owner.withLock { $0 = nil }
        queue.leave()
    }

    private func begin() throws {
        try writer.connection.statement(.begin).run()
        batch = WriteQueue.Batch()
        writesInBatch = 0
    }

    private func rollBack() {
        if writer.connection.isInTransaction { try? writer.connection.statement(.rollback).run() }
        writer.forget()
        batch = nil
    }

    /// Ends this thread's turn: leaves the commit to the next that waits, or commits.
    private func commitOrPassOn(waitingFor waiter: WriteQueue.Waiter?) throws {
        guard let batch else { return leave() }
        if pool != nil, queue.isAwaited, writesInBatch < Self.largestBatch {
            if let waiter { batch.add(waiter) }
            leave()
            try waiter?.wait()
            return
        }
        do {
            guard writer.connection.isInTransaction else {
                throw DatabaseError(.diskFull, "the storage undid the transaction this write was a part of; retry")
            }
            try writer.connection.statement(.commit).run()
        } catch {
            rollBack()
            batch.finish(error)
            leave()
            throw error
        }
        self.batch = nil
        announce()
        batch.finish(nil)
        leave()
    }

    private func announce() {
        if let notify = notify.withLock({ $0 }), let newest = try? writer.lastSequence { notify(newest) }
    }

    /// Runs a closure as a part of the open transaction that can fail alone.
    private func part<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        let connection = writer.connection
        try connection.statement(.savepoint).run()
        do {
            let result = try body(writer)
            try connection.statement(.release).run()
            if !connection.isInTransaction { announce() }
            return result
        } catch {
            // SQLite has undone everything when the disk was full; then there is no part to go back to.
            if connection.isInTransaction {
                try connection.statement(.rollbackToSavepoint).run()
                try connection.statement(.release).run()
            }
            writer.forget()
            throw error
        }
    }

    /// Runs a closure on the writing connection between two transactions.
    private func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try enter()
        defer { leave() }
        if let open = batch {
            try writer.connection.statement(.commit).run()
            batch = nil
            open.finish(nil)
        }
        return try body()
    }

    func reclaimSpace() throws {
        try exclusively {
            // The copy that is made meanwhile is as large as the file, and belongs on the disk.
            try writer.connection.execute("PRAGMA temp_store = FILE")
            defer { try? writer.connection.execute("PRAGMA temp_store = MEMORY") }
            try writer.connection.execute("VACUUM")
            try writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    func integrityProblems() throws -> [String] {
        let check = { (reader: SQLiteReader) -> [String] in
            let rows = try SQLiteStatement("PRAGMA integrity_check(100)", on: reader.connection).all { $0.string(0) }
            return rows == ["ok"] ? [] : rows
        }
        guard let pool else { return try exclusively { try check(writer) } }
        return try pool.read(check)
    }

    func sizeOnDisk() throws -> Int64 {
        try read { reader in
            guard let reader = reader as? SQLiteReader else { return 0 }
            let pages = try reader.connection.integer("PRAGMA page_count") ?? 0
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
        guard (try? queue.enter()) != nil else { return }
        if let open = batch {
            let committed = Swift.Result { try writer.connection.statement(.commit).run() }
            batch = nil
            if case .failure(let error) = committed { open.finish(error) } else { open.finish(nil) }
        }
        if let empty = try? SQLiteConnection(path: ":memory:") { writer = SQLiteWriter(empty) }
        queue.leave()
    }
}
