internal import SettleDatabase
internal import SettlePlatform

/// The file of an index.
enum IndexFile {
    /// Removes a file with the other files that SQLite keeps beside it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    /// Opens a file, and creates the tables if they are missing.
    static func open(_ path: String, _ tables: IndexTables) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        try connection.execute(
            """
            PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384;
            PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 33554432;
            """)
        if try connection.integer("PRAGMA user_version") == tables.version { return connection }
        try connection.transact {
            // Another connection may have created them meanwhile.
            guard try connection.integer("PRAGMA user_version") != tables.version else { return }
            let drops = tables.names.map { "DROP TABLE IF EXISTS \($0);" }.joined(separator: " ")
            try connection.execute("\(drops) \(tables.sql) PRAGMA user_version = \(tables.version);")
        }
        return connection
    }
}
