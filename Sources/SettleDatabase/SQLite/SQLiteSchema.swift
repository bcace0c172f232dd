internal import CSQLite

/// The tables of a database file, as described in `docs/FILE_FORMAT.md`, and the migration from older formats.
enum SQLiteSchema {
    /// The application id in the file's header, which marks a Settle database: "Setl".
    static let applicationID: Int64 = 0x5365_746C
    /// The newest format this version writes; the file's `user_version`.
    static let version: Int64 = 5
    /// The number of pages in the write-ahead log at which SQLite copies them into the database.
    private static let pagesBeforeCheckpoint = 4000

    /// Creates the tables in an empty file.
    static func create(on connection: SQLiteConnection) throws {
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            CREATE TABLE documents(
                sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, flags INTEGER NOT NULL,
                \(counted), tree BLOB NOT NULL, attachments BLOB, body BLOB NOT NULL);
            CREATE UNIQUE INDEX documents_by_id ON documents(id);
            CREATE INDEX documents_by_flags ON documents(flags, id) WHERE flags > 0;
            CREATE TABLE contents(number INTEGER PRIMARY KEY, attachments BLOB, body BLOB NOT NULL);
            CREATE TABLE blobs(
                digest BLOB NOT NULL UNIQUE, md5 BLOB NOT NULL, length INTEGER NOT NULL, content BLOB);
            CREATE TABLE locals(id BLOB PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE expirations(id BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
            CREATE INDEX expirations_by_time ON expirations(at);
            CREATE TABLE settings(name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
            \(journal)
            \(journalReferences)
            \(counts)
            PRAGMA application_id = \(applicationID);
            PRAGMA user_version = \(version);
            COMMIT;
            """)
    }

    /// The table that format 2 adds.
    private static let journal = """
        CREATE TABLE journal(
            number INTEGER PRIMARY KEY, id BLOB NOT NULL, revision BLOB NOT NULL, time INTEGER NOT NULL,
            old BLOB, old_attachments BLOB, new BLOB, new_attachments BLOB);
        """

    /// The column that format 3 adds: which contents of an operation are stored with the document.
    private static let journalReferences = "ALTER TABLE journal ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;"

    /// The column that format 4 adds: the state of a document that the sums have, if it was written since they were
    /// computed.
    private static let counted = "counted INTEGER NOT NULL DEFAULT 0"

    /// The tables that format 4 adds: sums, so that documents need not be counted.
    private static let counts = """
        CREATE TABLE sequence_counts(
            level INTEGER NOT NULL, bucket INTEGER NOT NULL, documents INTEGER NOT NULL,
            PRIMARY KEY(level, bucket)) WITHOUT ROWID;
        CREATE TABLE id_counts(
            level INTEGER NOT NULL, first BLOB NOT NULL, plain INTEGER NOT NULL, deleted INTEGER NOT NULL,
            conflicted INTEGER NOT NULL, contested INTEGER NOT NULL, PRIMARY KEY(level, first)) WITHOUT ROWID;
        INSERT INTO id_counts VALUES(0, x'', 0, 0, 0, 0);
        """

    /// Migrates an older file to the newest format, step by step, in one transaction. If that fails, the file stays
    /// unchanged.
    ///
    /// To add a format, add its step here and a fixture of the previous format to the tests.
    static func migrate(_ connection: SQLiteConnection) throws {
        let found = try connection.integer("PRAGMA user_version") ?? 0
        guard found < version else { return }
        try connection.execute("BEGIN IMMEDIATE")
        if found < 2 { try connection.execute(journal) }
        if found < 3 { try connection.execute(journalReferences) }
        if found < 4 {
            try connection.execute("ALTER TABLE documents ADD COLUMN \(counted); \(counts)")
            try SQLiteWriter(connection).rebuildCounts()
        }
        // Format 5 has the tables of format 4, but rows that are written from then on have checksums.
        try readJournal(connection)
        try connection.execute("PRAGMA user_version = \(version); COMMIT;")
    }

    /// Makes the file use a write-ahead log, which changes a file without one. A file that fails to open is not
    /// changed.
    static func useLog(_ connection: SQLiteConnection) throws {
        let mode = try SQLiteStatement("PRAGMA journal_mode", on: connection).first { $0.string(0) }
        guard mode != "wal" else { return }
        try readJournal(connection)
        let damage = try SQLiteStatement("PRAGMA quick_check(1)", on: connection).first { $0.string(0) } ?? ""
        guard damage == "ok" else { throw DatabaseError(.corrupt, "the database file is damaged: \(damage)") }
        try connection.useLog()
    }

    /// Reads the journal as opening a database does.
    private static func readJournal(_ connection: SQLiteConnection) throws {
        let reader = SQLiteReader(connection)
        var last: Int64 = 0
        while let newest = try reader.journalEntries(after: last, limit: 500).last { last = newest.number }
    }

    /// Checks that a file has a known format.
    static func check(_ connection: SQLiteConnection) throws {
        let found = try connection.integer("PRAGMA user_version") ?? 0
        guard found <= version else { throw newer(found) }
        guard found >= 1 else {
            throw DatabaseError(.corrupt, "the file says it has format \(found), which never was")
        }
    }

    /// The error for a file of a format that is too new.
    static func newer(_ found: Int64) -> DatabaseError {
        DatabaseError(
            .newerFormat,
            "the file has format \(found), and this version of Settle reads up to \(version); use a newer one")
    }

    /// Configures a connection; readers and the writer have the same configuration.
    ///
    /// On Apple's systems, `fsync` reaches only the cache of the drive. There, `fullfsync` makes SQLite force each
    /// commit to the medium, and `checkpoint_fullfsync` each checkpoint; without that, a loss of power could damage
    /// the file. On other systems both do nothing.
    static func configure(_ connection: SQLiteConnection, durability: Durability, cacheBytes: Int) throws {
        try connection.execute(
            """
            PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL");
            PRAGMA fullfsync = \(durability == .full ? 1 : 0);
            PRAGMA checkpoint_fullfsync = 1;
            PRAGMA cache_size = -\(max(cacheBytes / 1024, 64));
            PRAGMA secure_delete = OFF;
            PRAGMA temp_store = MEMORY;
            PRAGMA wal_autocheckpoint = \(pagesBeforeCheckpoint);
            PRAGMA journal_size_limit = 67108864;
            """)
    }
}
