internal import CSQLite
internal import SettleCore

/// A prepared statement of a ``SQLiteConnection``.
package final class SQLiteStatement {
    private let handle: OpaquePointer
    private let database: OpaquePointer
    private var bindingFailure: Int32?
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    package init(_ sql: String, on connection: SQLiteConnection) throws {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw SQLiteError.make(code, connection.handle, sql) }
        self.handle = handle
        database = connection.handle
    }

    deinit { sqlite3_finalize(handle) }

    package func bind(_ index: Int32, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
    }

    package func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }

    package func bind(_ index: Int32, _ bytes: [UInt8]?) {
        guard let bytes else {
            sqlite3_bind_null(handle, index)
            return
        }
        if bytes.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            record(sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), Self.transient))
        }
    }

    /// Records that a value could not be bound, so that the next run throws.
    private func record(_ code: Int32) {
        if code != SQLITE_OK { bindingFailure = code }
    }

    /// Binds text as its UTF-8 bytes: ids are stored as blobs, so that they may contain any character.
    package func bind(_ index: Int32, utf8 text: String?) {
        guard var text else {
            sqlite3_bind_null(handle, index)
            return
        }
        _ = text.withUTF8 { bytes in
            if bytes.isEmpty {
                sqlite3_bind_zeroblob(handle, index, 0)
            } else {
                sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), Self.transient)
            }
        }
    }

    /// Runs the statement and ignores its rows.
    package func run() throws {
        defer { sqlite3_reset(handle) }
        if let code = bindingFailure {
            bindingFailure = nil
            throw failure(code)
        }
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    }

    /// Runs a closure with bytes that are bound without a copy. The closure ends with ``runLent()``.
    @inline(__always)
    func lending(_ index: Int32, _ bytes: [UInt8], _ body: () throws -> Void) throws {
        try bytes.withUnsafeBytes { try lending(index, $0, body) }
    }

    /// Runs a closure with a non-empty text that is bound as its UTF-8 without a copy. The closure ends with
    /// ``runLent()``.
    @inline(__always)
    func lending(_ index: Int32, utf8 text: String, _ body: () throws -> Void) throws {
        var text = text
        try text.withUTF8 { try lending(index, UnsafeRawBufferPointer($0), body) }
    }

    @inline(__always)
    private func lending(_ index: Int32, _ bytes: UnsafeRawBufferPointer, _ body: () throws -> Void) throws {
        record(sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil))
        do { try body() } catch {
            sqlite3_clear_bindings(handle)
            throw error
        }
    }

    /// Runs the statement with lent bytes, and clears all its values: none is kept beyond the time it was lent for.
    func runLent() throws {
        defer { sqlite3_clear_bindings(handle) }
        try run()
    }

    /// Moves to the next row; returns `false` at the end. The statement may then be run again.
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        sqlite3_reset(handle)
        guard code == SQLITE_DONE else { throw failure(code) }
        return false
    }

    /// Skips the remaining rows.
    package func reset() { sqlite3_reset(handle) }

    /// Runs the statement and takes one value from its first row; `nil` if there is no row.
    package func first<Value>(_ take: (SQLiteStatement) throws -> Value?) throws -> Value? {
        defer { sqlite3_reset(handle) }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return try take(self) }
        guard code == SQLITE_DONE else { throw failure(code) }
        return nil
    }

    /// Runs the statement and takes one value from each row, except from rows for which the closure returns `nil`, up to a limit or until
    /// the values are enough.
    package func all<Value>(
        expecting count: Int = 0, limit: Int = .max, until isEnough: () -> Bool = { false },
        _ take: (SQLiteStatement) throws -> Value?
    ) throws -> [Value] {
        defer { sqlite3_reset(handle) }
        var values: [Value] = []
        values.reserveCapacity(min(count, 1000))
        while values.count < limit, !isEnough() {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw failure(code) }
            if let value = try take(self) { values.append(value) }
        }
        return values
    }

    /// Runs the statement and takes one value from each row. Checks that the rows have the order of the index.
    ///
    /// Callers continue after the last value, so a damaged index that leads back would cause an endless loop.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` for a row that does not come after the previous one.
    func all<Value, Key: Comparable>(
        limit: Int = .max, until isEnough: () -> Bool = { false }, by key: (Value) -> Key, beyond bound: Key?,
        descending: Bool = false, _ take: (SQLiteStatement) throws -> Value?
    ) throws -> [Value] {
        var last = bound
        return try all(limit: limit, until: isEnough) { row in
            guard let value = try take(row) else { return nil }
            let next = key(value)
            if let last, descending ? next >= last : next <= last { throw SQLiteError.outOfOrder }
            last = next
            return value
        }
    }

    /// A document's id, which is a blob of UTF-8.
    func id(_ column: Int32) throws -> DocumentID {
        let text = withBytes(column) { bytes in
            // Ids are usually ASCII, which needs no validation.
            bytes.allSatisfy { $0 < 0x80 }
                ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        }
        guard let text, !text.isEmpty, sqlite3_column_type(handle, column) == SQLITE_BLOB else {
            throw DatabaseError(.corrupt, "a document's id is not UTF-8")
        }
        return DocumentID(unchecked: text)
    }

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func string(_ column: Int32) -> String {
        String(decoding: UnsafeRawBufferPointer(start: pointer(column), count: length(column)), as: UTF8.self)
    }

    package func bytes(_ column: Int32) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: pointer(column), count: length(column)))
    }

    /// Lends a column's bytes until the next step.
    package func withBytes<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: pointer(column), count: length(column)))
    }

    private func pointer(_ column: Int32) -> UnsafeRawPointer? { sqlite3_column_blob(handle, column) }

    private func length(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

    private func failure(_ code: Int32) -> DatabaseError {
        SQLiteError.make(code, database, String(cString: sqlite3_sql(handle)))
    }
}
