import CFloor

/// The floor: a plain SQLite loop that stores the same ids and bodies, with a unique index on the id and a sequence,
/// with Settle's pragmas. No revisions, no validation, no hash.
final class Floor {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    private var sequence: Int64 = 0

    init(path: String, full: Bool = false) {
        sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        run("PRAGMA journal_mode = WAL")
        run(
            """
            PRAGMA synchronous = \(full ? "FULL" : "NORMAL"); PRAGMA cache_size = -16384; PRAGMA secure_delete = OFF;
            PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;
            CREATE TABLE IF NOT EXISTS documents(sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, body BLOB NOT NULL);
            CREATE UNIQUE INDEX IF NOT EXISTS documents_by_id ON documents(id);
            CREATE TABLE IF NOT EXISTS contents(number INTEGER PRIMARY KEY, body BLOB NOT NULL);
            """)
        let newest = prepare("SELECT max(sequence) FROM documents")
        if sqlite3_step(newest) == SQLITE_ROW { sequence = sqlite3_column_int64(newest, 0) }
        sqlite3_reset(newest)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    func run(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }

    private func prepare(_ sql: String) -> OpaquePointer? {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        statements[sql] = statement
        return statement
    }

    func insert(_ id: [UInt8], _ body: [UInt8]) {
        write("INSERT INTO documents(sequence, id, body) VALUES(?1, ?2, ?3)", id, body)
    }

    func update(_ id: [UInt8], _ body: [UInt8]) {
        write("UPDATE documents SET sequence = ?1, body = ?3 WHERE id = ?2", id, body)
    }

    /// An update that keeps the old body, as every store does whose old revisions stay readable.
    func supersede(_ id: [UInt8], _ body: [UInt8]) {
        let statement = prepare("INSERT INTO contents(body) VALUES(?1)")
        bind(statement, 1, get(id))
        precondition(sqlite3_step(statement) == SQLITE_DONE)
        sqlite3_reset(statement)
        update(id, body)
    }

    private func write(_ sql: String, _ id: [UInt8], _ body: [UInt8]) {
        let statement = prepare(sql)
        sequence += 1
        sqlite3_bind_int64(statement, 1, sequence)
        bind(statement, 2, id)
        bind(statement, 3, body)
        precondition(sqlite3_step(statement) == SQLITE_DONE)
        sqlite3_reset(statement)
    }

    func get(_ id: [UInt8]) -> [UInt8] {
        let statement = prepare("SELECT body FROM documents WHERE id = ?1")
        bind(statement, 1, id)
        precondition(sqlite3_step(statement) == SQLITE_ROW)
        defer { sqlite3_reset(statement) }
        return [UInt8](
            UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0))))
    }

    func scan() -> Int {
        let statement = prepare("SELECT sequence, id, body FROM documents ORDER BY sequence")
        defer { sqlite3_reset(statement) }
        var total = 0
        while sqlite3_step(statement) == SQLITE_ROW {
            total += Int(sqlite3_column_int64(statement, 0)) & 1
            total += sqlite3_column_blob(statement, 1) == nil ? 0 : Int(sqlite3_column_bytes(statement, 1))
            total += sqlite3_column_blob(statement, 2) == nil ? 0 : Int(sqlite3_column_bytes(statement, 2))
        }
        return total
    }

    private func bind(_ statement: OpaquePointer?, _ index: Int32, _ bytes: [UInt8]) {
        sqlite3_bind_blob(
            statement, index, bytes, Int32(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
}
