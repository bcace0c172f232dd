import CFloor

/// A floor that writes ids twice: first to a small table, then, 200,000 at once and in their order, to the large one. So a page of
/// the large table is written for many ids and not for one.
final class MergingFloor {
    private var handle: OpaquePointer?
    private var (find, note, store): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
    private var sequence: Int64 = 0
    private var recent = 0

    init(path: String) {
        sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        run(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;
            PRAGMA wal_autocheckpoint = 4000;
            CREATE TABLE documents(sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, body BLOB NOT NULL);
            CREATE TABLE recent(id BLOB PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE ids(id BLOB PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
            """)
        find = prepare("SELECT sequence FROM ids WHERE id = ?1")
        note = prepare("INSERT INTO recent(id, sequence) VALUES(?1, ?2)")
        store = prepare("INSERT INTO documents(sequence, id, body) VALUES(?2, ?1, ?3)")
    }

    deinit {
        for statement in [find, note, store] { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    private func run(_ sql: String) { precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK) }

    private func prepare(_ sql: String) -> OpaquePointer? {
        var statement: OpaquePointer?
        sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        return statement
    }

    func insert(_ documents: [(id: [UInt8], body: [UInt8])]) {
        run("BEGIN IMMEDIATE")
        for document in documents {
            sequence += 1
            for statement in [find, note, store] { bind(statement, 1, document.id) }
            // A new id has to be looked up in both.
            precondition(sqlite3_step(find) == SQLITE_DONE)
            sqlite3_bind_int64(note, 2, sequence)
            sqlite3_bind_int64(store, 2, sequence)
            bind(store, 3, document.body)
            precondition(sqlite3_step(note) == SQLITE_DONE && sqlite3_step(store) == SQLITE_DONE)
            for statement in [find, note, store] { sqlite3_reset(statement) }
        }
        recent += documents.count
        if recent >= 200_000 {
            run("INSERT INTO ids SELECT id, sequence FROM recent ORDER BY id; DELETE FROM recent")
            recent = 0
        }
        run("COMMIT")
    }

    private func bind(_ statement: OpaquePointer?, _ index: Int32, _ bytes: [UInt8]) {
        sqlite3_bind_blob(
            statement, index, bytes, Int32(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
}
