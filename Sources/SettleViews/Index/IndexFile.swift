internal import RevisionTree
internal import SettleDatabase

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The tables of an index, one file for the views that share their functions.
///
///     state       name, value      how far it has come, and for what it was made
///     documents   id, positions    which rows a document has, so that they can be taken away
///     directory   view, first, number, count, reductions      the chunks in order, and what their rows come to
///     chunks      number, rows
///
/// `documents`, `directory` and `chunks` change in the transaction that says in `state` how far the index has come.
enum IndexFile {
    /// Changes when the form of the tables does; an index of another form is built anew.
    static let version: Int64 = 1

    /// Removes a file, with what SQLite has beside it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    /// Opens a file, and makes the tables where there are none.
    static func open(_ path: String) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        try connection.execute(
            """
            PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384;
            PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 33554432;
            """)
        if try connection.integer("PRAGMA user_version") == version { return connection }
        try connection.execute("BEGIN IMMEDIATE")
        // Another connection may have made them meanwhile.
        if try connection.integer("PRAGMA user_version") == version {
            try connection.execute("COMMIT")
            return connection
        }
        try connection.execute(
            """
            DROP TABLE IF EXISTS state; DROP TABLE IF EXISTS documents;
            DROP TABLE IF EXISTS directory; DROP TABLE IF EXISTS chunks;
            CREATE TABLE state(name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE documents(id BLOB PRIMARY KEY, positions BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE directory(
                view INTEGER NOT NULL, first BLOB NOT NULL, number INTEGER NOT NULL, count INTEGER NOT NULL,
                reductions BLOB NOT NULL, PRIMARY KEY(view, first)) WITHOUT ROWID;
            CREATE TABLE chunks(number INTEGER PRIMARY KEY, rows BLOB NOT NULL);
            PRAGMA user_version = \(version);
            COMMIT;
            """)
        return connection
    }
}
