internal import CSQLite

/// Turns SQLite's result codes into errors of the database.
enum SQLiteError {
    /// An error for a result code, with SQLite's own words.
    static func make(_ code: Int32, _ database: OpaquePointer?, _ doing: String) -> DatabaseError {
        let words = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        switch code & 0xFF {
        case SQLITE_FULL: return DatabaseError(.diskFull, "there is no room left on the disk; free some and retry")
        case SQLITE_IOERR where systemErrorIsNoSpace(database):
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

    /// The error for rows that do not come in the order their index promises.
    static var outOfOrder: DatabaseError { DatabaseError(.corrupt, "an index of the database file is damaged") }

    private static func systemErrorIsNoSpace(_ database: OpaquePointer?) -> Bool {
        guard let database else { return false }
        return sqlite3_system_errno(database) == 28
    }
}
