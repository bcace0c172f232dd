internal import CSQLite
internal import SettlePlatform

/// One connection to a SQLite file, used by one thread at a time.
///
/// Statements are prepared once and kept. A statement that was stepped must be reset before the next use;
/// ``SQLiteStatement/run(_:)`` and similar methods do that.
package final class SQLiteConnection {
    let handle: OpaquePointer
    /// The statements of the schema by number, because each save looks up many of them.
    private var statements = [SQLiteStatement?](repeating: nil, count: SQL.allCases.count)
    /// All other statements, a few dozen, by their texts.
    private var others: [String: SQLiteStatement] = [:]
    /// Whether closing leaves a short log unchanged, instead of copying it into the database, synchronizing both
    /// and removing it.
    var leavesShortLog = false
    /// The maximum size of a short log: about 30 pages, which the next opening reads in a fraction of a
    /// millisecond.
    private static let shortLog: Int64 = 128 << 10

    /// Opens a file; for `:memory:` a database in memory that exists as long as the connection.
    package convenience init(path: String, readOnly: Bool = false) throws {
        try self.init(path: path, readOnly: readOnly, fileSystem: .standard)
    }

    /// Opens a file with a given file system of SQLite.
    init(path: String, readOnly: Bool = false, fileSystem: SQLiteFileSystem) throws {
        if !readOnly, path != ":memory:" { Self.makePrivateFile(path) }
        var handle: OpaquePointer?
        let flags =
            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
            | (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        let code = sqlite3_open_v2(path, &handle, flags, fileSystem.name)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError.make(code, handle, "opening the file")
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        _ = settle_sqlite3_lookaside(handle, 1200, 100)
        sqlite3_busy_timeout(handle, Self.patience)
    }

    /// How long a connection waits for another one, in milliseconds.
    private static let patience: Int32 = 60_000

    /// Creates an empty file that only its owner may read, if the file does not exist. SQLite would create one that
    /// all users may read. The files that SQLite creates beside it get the same permissions.
    ///
    /// An existing file is not opened, because closing it would release SQLite's locks on it.
    private static func makePrivateFile(_ path: String) {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
    }

    deinit {
        statements.removeAll()
        others.removeAll()
        if leavesShortLog, let file = sqlite3_db_filename(handle, "main"),
            let log = FileStatus(path: String(cString: file) + "-wal"), log.size <= Self.shortLog
        {
            _ = settle_sqlite3_leave_log(handle)
        }
        sqlite3_close_v2(handle)
    }

    /// Runs statements that return no rows.
    package func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError.make(code, handle, sql) }
    }

    /// Makes the file use a write-ahead log, if it does not yet.
    ///
    /// Of connections that do this to a new file at the same time, SQLite fails the slower ones: they would wait for
    /// each other for ever (`SQLITE_BUSY`), or they want to remove what a killed process left, and it is gone
    /// (`SQLITE_IOERR_DELETE_NOENT`). What they wanted is done, so they look again.
    package func useLog() throws {
        let deadline = ContinuousClock.now + .milliseconds(Self.patience)
        while true {
            let code = sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nil, nil, nil)
            if code == SQLITE_OK { return }
            let isOvertaken = code & 0xFF == SQLITE_BUSY || code == settle_sqlite3_ioerr_delete_noent
            guard isOvertaken, .now < deadline else { throw SQLiteError.make(code, handle, "making the log") }
            usleep(1000)
        }
    }

    /// The prepared form of one of the statements of the schema.
    func statement(_ sql: SQL) throws -> SQLiteStatement {
        if let statement = statements[sql.rawValue] { return statement }
        let statement = try SQLiteStatement(sql.text, on: self)
        statements[sql.rawValue] = statement
        return statement
    }

    /// The prepared form of another statement. Its text must be one of a few, with values bound as parameters.
    func statement(_ text: String) throws -> SQLiteStatement {
        if let statement = others[text] { return statement }
        let statement = try SQLiteStatement(text, on: self)
        others[text] = statement
        return statement
    }

    /// The first column of the first row of a query, as an integer.
    package func integer(_ sql: String) throws -> Int64? {
        try SQLiteStatement(sql, on: self).first { $0.integer(0) }
    }

    /// The rowid of the last inserted row.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of rows that the last statement changed.
    var changedRows: Int32 { sqlite3_changes(handle) }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}

/// Converts SQLite's result codes to errors of the database.
enum SQLiteError {
    /// An error for a result code, with SQLite's own message.
    static func make(_ code: Int32, _ database: OpaquePointer?, _ doing: String) -> DatabaseError {
        let words = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        return make(code, words, system: database.map { sqlite3_system_errno($0) } ?? 0, doing)
    }

    /// An error for a result code.
    ///
    /// - Parameters:
    ///   - code: The result code.
    ///   - words: SQLite's message.
    ///   - number: The error of the system that SQLite met last.
    ///   - doing: What SQLite was asked to do.
    /// - Returns: The error.
    static func make(_ code: Int32, _ words: String, system number: Int32, _ doing: String) -> DatabaseError {
        switch code & 0xFF {
        case SQLITE_FULL: return DatabaseError(.diskFull, "there is no room left on the disk; free some and retry")
        case SQLITE_IOERR where meansFull(number):
            return DatabaseError(.diskFull, "there is no room left on the disk; free some and retry")
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
            return DatabaseError(.inputOutput, "the system refused while \(doing): \(words) (SQLite \(code))")
        case SQLITE_CORRUPT: return DatabaseError(.corrupt, "the database file is damaged: \(words)")
        case SQLITE_NOTADB: return DatabaseError(.notADatabase, "the file is not a database: \(words)")
        case SQLITE_BUSY, SQLITE_LOCKED: return DatabaseError(.inUse, "another process is using the file: \(words)")
        case SQLITE_TOOBIG: return DatabaseError(.documentTooLarge, "a document is too large for SQLite: \(words)")
        default: return DatabaseError(.storage, "SQLite \(code) while \(doing): \(words)")
        }
    }

    /// The error for rows that are not in the order of their index.
    static var outOfOrder: DatabaseError { DatabaseError(.corrupt, "an index of the database file is damaged") }
}
