import CFloor

/// The floor: the reads and writes of settling a document, by SQLite alone: three contents read, and in one transaction the
/// document's row rewritten, the old winner's content and a closing tombstone inserted. No trees, no merge, no hash.
final class ConflictFloor {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    private var sequence: Int64 = 0

    init(path: String, full: Bool) {
        sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        execute("PRAGMA journal_mode = WAL")
        execute(
            """
            PRAGMA synchronous = \(full ? "FULL" : "NORMAL"); PRAGMA cache_size = -16384; PRAGMA secure_delete = OFF;
            PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;
            CREATE TABLE documents(
                sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, flags INTEGER NOT NULL, body BLOB NOT NULL);
            CREATE UNIQUE INDEX documents_by_id ON documents(id);
            CREATE INDEX documents_by_flags ON documents(flags, id) WHERE flags > 0;
            CREATE TABLE contents(number INTEGER PRIMARY KEY, body BLOB NOT NULL);
            """)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    func execute(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }

    /// Inserts a conflict: the winner in its row, the other leaf and the base separately.
    func insert(_ id: [UInt8], winner: [UInt8], apart: [[UInt8]]) {
        sequence += 1
        let insert = prepare("INSERT INTO documents(sequence, id, flags, body) VALUES(?1, ?2, 2, ?3)")
        sqlite3_bind_int64(insert, 1, sequence)
        bind(insert, 2, id)
        bind(insert, 3, winner)
        finish(insert)
        for body in apart { keep(body) }
    }

    /// Settles it: reads two contents in addition to the row, and writes the result.
    func settle(_ id: [UInt8], apart numbers: [Int64], result: [UInt8], closing: [UInt8]) -> Int {
        let get = prepare("SELECT sequence, body FROM documents WHERE id = ?1")
        bind(get, 1, id)
        precondition(sqlite3_step(get) == SQLITE_ROW)
        let old = sqlite3_column_int64(get, 0)
        let winner = bytes(get, 1)
        sqlite3_reset(get)
        var total = winner.count
        let content = prepare("SELECT body FROM contents WHERE number = ?1")
        for number in numbers {
            sqlite3_bind_int64(content, 1, number)
            precondition(sqlite3_step(content) == SQLITE_ROW)
            total += bytes(content, 0).count
            sqlite3_reset(content)
        }
        execute("BEGIN IMMEDIATE")
        keep(winner)
        keep(closing)
        sequence += 1
        let update = prepare("UPDATE documents SET sequence = ?1, flags = 0, body = ?3 WHERE sequence = ?2")
        sqlite3_bind_int64(update, 1, sequence)
        sqlite3_bind_int64(update, 2, old)
        bind(update, 3, result)
        finish(update)
        execute("COMMIT")
        return total
    }

    private func keep(_ body: [UInt8]) {
        let insert = prepare("INSERT INTO contents(body) VALUES(?1)")
        bind(insert, 1, body)
        finish(insert)
    }

    private func prepare(_ sql: String) -> OpaquePointer? {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        statements[sql] = statement
        return statement
    }

    private func finish(_ statement: OpaquePointer?) {
        precondition(sqlite3_step(statement) == SQLITE_DONE)
        sqlite3_reset(statement)
    }

    private func bytes(_ statement: OpaquePointer?, _ column: Int32) -> [UInt8] {
        [UInt8](
            UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
    }

    private func bind(_ statement: OpaquePointer?, _ index: Int32, _ bytes: [UInt8]) {
        sqlite3_bind_blob(
            statement, index, bytes, Int32(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
}
