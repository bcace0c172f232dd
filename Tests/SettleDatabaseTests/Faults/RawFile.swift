import CSQLite

/// A database file opened without Settle, to write invalid content.
struct RawFile {
    struct Failure: Error { let message: String }

    let path: String

    /// Runs SQL.
    func execute(_ sql: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        guard sqlite3_open(path, &handle) == SQLITE_OK, sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)))
        }
    }
}
