import CSQLite
import Settle

/// A SQLite file opened without the database, to damage it.
final class RawSQLite {
    private var handle: OpaquePointer?

    init(_ path: String) throws {
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw Nonsense() }
    }

    deinit { sqlite3_close(handle) }

    func run(_ sql: String) throws {
        var message: UnsafeMutablePointer<CChar>?
        guard sqlite3_exec(handle, sql, nil, nil, &message) == SQLITE_OK else {
            throw DatabaseError(.storage, message.map { String(cString: $0) } ?? "?")
        }
    }
}
