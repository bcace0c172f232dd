internal import CSQLite
package import Foundation
internal import SettlePlatform

/// The SQLite file of another product, opened for reading.
///
/// The original is never written to. A file with a write-ahead log or a journal is copied with it into a temporary folder, which
/// is removed at the end, because SQLite changes the files when it reads the log. Other files are read where they are.
///
/// Nothing in the file runs: no view, no trigger, no extension. Only tables are read.
package final class ForeignSQLiteFile {
    /// The file as it was given.
    package let url: URL
    /// The tables by name, with their columns. Views and virtual tables are not among them.
    package private(set) var tables: [String: Set<String>] = [:]
    /// `PRAGMA user_version`.
    package private(set) var version = 0
    private let handle: OpaquePointer
    /// The folder of the copy.
    private let copy: URL?

    /// How long a row may be, as a record of a dump.
    package static let maximumRow: Int32 = 256 << 20
    /// How many tables are looked at.
    private static let maximumTables = 10_000

    /// The first bytes of a SQLite file.
    package static let magic = Array("SQLite format 3\0".utf8)

    /// Opens a file.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged` if it is not a SQLite file, `inUse` or `inputOutput` if the system
    ///   refuses.
    package init(at url: URL) throws {
        self.url = url
        let logs = Self.logs(of: url)
        copy = logs.isEmpty ? nil : try Self.copy(url, with: logs)
        do {
            handle = try Self.open(url, copy: copy)
        } catch {
            if let copy { try? FileManager.default.removeItem(at: copy) }
            throw error
        }
        // From here on `deinit` cleans up.
        try prepare()
    }

    deinit {
        sqlite3_close_v2(handle)
        if let copy { try? FileManager.default.removeItem(at: copy) }
    }

    /// The name of the file in messages. A `db.sqlite3` is named by its folder.
    package var name: String { Self.name(of: url) }

    /// The name of a file in messages.
    package static func name(of url: URL) -> String {
        let isInside = ["db.sqlite3", "db.sync"].contains(url.lastPathComponent)
        return isInside
            ? "\(url.deletingLastPathComponent().lastPathComponent)/\(url.lastPathComponent)" : url.lastPathComponent
    }

    /// The write-ahead log and the journal of a file, with the ends of their names, if they have anything in them.
    ///
    /// They are beside the file; of a file that is a link, also beside what it leads to.
    package static func logs(of url: URL) -> [(end: String, url: URL)] {
        ["-wal", "-journal"].compactMap { end in
            [url, url.resolvingSymlinksInPath()].map { URL(filePath: $0.path + end) }
                .first { FileStatus(path: $0.path).map { $0.size > 0 } ?? false }.map { (end: end, url: $0) }
        }
    }

    private static func copy(_ url: URL, with logs: [(end: String, url: URL)]) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "settle-import-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for part in [(end: "", url: url)] + logs {
                let target = folder.appending(path: "copy.db" + part.end)
                // Where the file system can, the copy shares the original's blocks. A copied link would lead to the original.
                try FileManager.default.copyItem(at: part.url.resolvingSymlinksInPath(), to: target)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)
            }
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw ForeignFileError(.inputOutput, "\(name(of: url)) can't be copied with its log: \(error)")
        }
        return folder
    }

    private static func open(_ url: URL, copy: URL?) throws -> OpaquePointer {
        var handle: OpaquePointer?
        let code: Int32
        if let copy {
            code = sqlite3_open_v2(
                copy.appending(path: "copy.db").path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        } else {
            let path = url.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? url.path
            code = sqlite3_open_v2(
                "file:\(path)?immutable=1", &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
        }
        guard code == SQLITE_OK, let handle else {
            let error = failure(code, handle, name(of: url))
            sqlite3_close_v2(handle)
            throw error
        }
        return handle
    }

    /// Limits what the file can make a connection do.
    private func limit(_ handle: OpaquePointer) throws {
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5000)
        _ = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.maximumRow)
        _ = sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        // Products order some indexes by functions of their own. No query here uses the order of such an index.
        _ = sqlite3_collation_needed(handle, nil) { _, handle, encoding, name in
            guard let handle, let name else { return }
            sqlite3_create_collation_v2(
                handle, name, encoding, nil,
                { _, leftCount, left, rightCount, right in
                    guard let left, let right, min(leftCount, rightCount) > 0 else { return leftCount &- rightCount }
                    let order = memcmp(left, right, Int(min(leftCount, rightCount)))
                    return order == 0 ? leftCount &- rightCount : order
                }, nil)
        }
        for pragma in ["trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "temp_store=DEFAULT"] {
            let code = sqlite3_exec(handle, "PRAGMA \(pragma)", nil, nil, nil)
            guard code == SQLITE_OK else { throw Self.failure(code, handle, name) }
        }
    }

    private func prepare() throws {
        try limit(handle)
        // One view of the data for all that is read.
        try execute("BEGIN")
        version = try Int(query("PRAGMA user_version").first { $0.integer(0) } ?? 0)
        let names = try query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' LIMIT ?1"
        ).bind(1, Int64(Self.maximumTables)).all { $0.text(0) }
        for name in names {
            let columns = try query("SELECT name FROM pragma_table_info(?1)").bind(1, text: name).all { $0.text(0) }
            tables[name] = Set(columns)
        }
        try execute("PRAGMA query_only=ON")
    }

    /// Runs statements that give no rows.
    package func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Self.failure(code, handle, name) }
    }

    /// Makes a temporary table of ids and sequences, by which the rows of a document are found without the file's own indexes.
    package func makeList(_ statements: [String]) throws {
        try execute("PRAGMA query_only=OFF")
        for statement in statements { try execute(statement) }
        try execute("PRAGMA query_only=ON")
    }

    /// Prepares a query.
    package func query(_ sql: String) throws -> ForeignRows { try ForeignRows(sql, on: handle, of: self) }

    /// The number of rows of a table; 0 if the table does not exist.
    package func count(of table: String, where condition: String = "1") throws -> Int {
        guard tables[table] != nil else { return 0 }
        return try Int(
            query("SELECT count(*) FROM \(Self.quoted(table)) WHERE \(condition)").first { $0.integer(0) } ?? 0)
    }

    /// Whether there is a table with certain columns.
    package func has(_ table: String, _ columns: String...) -> Bool {
        tables[table].map { $0.isSuperset(of: columns) } ?? false
    }

    /// A name as SQL.
    package static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// Checks the structure of the file, which takes as long as reading all of it.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged` and the first faults.
    package func check() throws {
        // On a connection of its own: after a check that damage ends, SQLite refuses every write of the transaction, also to
        // temporary tables.
        let checked = try Self.open(url, copy: copy)
        defer { sqlite3_close_v2(checked) }
        try limit(checked)
        let rows = try ForeignRows("PRAGMA quick_check(5)", on: checked, of: self)
        let faults = try rows.all { $0.text(0) }.filter { $0 != "ok" }
        guard faults.isEmpty else {
            throw ForeignFileError(.damaged, "\(name) is damaged: \(faults.joined(separator: "; "))")
        }
    }

    /// Passes a value of a row in pieces of at most 64 KiB.
    package func read(
        _ column: String, of table: String, row: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var blob: OpaquePointer?
        let code = sqlite3_blob_open(handle, "main", table, column, row, 0, &blob)
        guard code == SQLITE_OK, let blob else {
            sqlite3_blob_close(blob)
            throw Self.failure(code, handle, name)
        }
        defer { sqlite3_blob_close(blob) }
        let length = sqlite3_blob_bytes(blob)
        var (buffer, offset) = ([UInt8](repeating: 0, count: AttachmentContent.piece), Int32(0))
        while offset < length {
            let count = min(Int32(buffer.count), length - offset)
            let code = buffer.withUnsafeMutableBytes { sqlite3_blob_read(blob, $0.baseAddress, count, offset) }
            guard code == SQLITE_OK else { throw Self.failure(code, handle, name) }
            try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
            offset += count
        }
    }

    /// The error for a result code.
    fileprivate static func failure(_ code: Int32, _ handle: OpaquePointer?, _ name: String) -> ForeignFileError {
        let words = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return ForeignFileError(.inUse, "\(name) is open in another program: \(words)")
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_FULL, SQLITE_NOMEM:
            return ForeignFileError(.inputOutput, "\(name) can't be read: \(words)")
        case SQLITE_TOOBIG:
            return ForeignFileError(.damaged, "\(name) has a row of more than \(maximumRow >> 20) MiB")
        default: return ForeignFileError(.damaged, "\(name) is damaged: \(words)")
        }
    }
}

// MARK: - ForeignRows

/// The rows of a query on a ``ForeignSQLiteFile``.
package final class ForeignRows {
    private let statement: OpaquePointer
    private let handle: OpaquePointer
    /// Keeps the connection open.
    private let file: ForeignSQLiteFile
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    fileprivate init(_ sql: String, on handle: OpaquePointer, of file: ForeignSQLiteFile) throws {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw ForeignSQLiteFile.failure(code, handle, file.name) }
        (self.statement, self.handle, self.file) = (statement, handle, file)
    }

    deinit { sqlite3_finalize(statement) }

    /// Sets a parameter.
    package func bind(_ index: Int32, _ value: Int64) -> Self {
        sqlite3_bind_int64(statement, index, value)
        return self
    }

    /// Sets a parameter.
    package func bind(_ index: Int32, text: String) -> Self {
        sqlite3_bind_text(statement, index, text, -1, Self.transient)
        return self
    }

    /// Goes to the next row.
    ///
    /// - Returns: Whether there is one. If not, the query may be run again.
    package func step() throws -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { throw ForeignSQLiteFile.failure(code, handle, file.name) }
        return false
    }

    /// Runs the query and takes a value of its first row.
    package func first<Value>(_ take: (ForeignRows) throws -> Value?) throws -> Value? {
        defer { sqlite3_reset(statement) }
        return try step() ? try take(self) : nil
    }

    /// Runs the query and takes a value of each row, except where it gives `nil`.
    package func all<Value>(_ take: (ForeignRows) throws -> Value?) throws -> [Value] {
        defer { sqlite3_reset(statement) }
        var values: [Value] = []
        while try step() { if let value = try take(self) { values.append(value) } }
        return values
    }

    /// Runs the query and passes each row.
    package func readRows(_ body: (ForeignRows) throws -> Void) throws {
        defer { sqlite3_reset(statement) }
        while try step() { try body(self) }
    }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    package func isText(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_TEXT }

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    /// The bytes of a blob, or of a text in UTF-8 whatever the file's encoding is; `nil` for NULL.
    package func bytes(_ column: Int32) -> [UInt8]? {
        let start: UnsafeRawPointer?
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB: start = sqlite3_column_blob(statement, column)
        default: start = UnsafeRawPointer(sqlite3_column_text(statement, column))
        }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// The text of a column, also of one that is a blob; `nil` for NULL and for bytes that are not UTF-8.
    package func text(_ column: Int32) -> String? { bytes(column).flatMap { String(validating: $0, as: UTF8.self) } }
}
