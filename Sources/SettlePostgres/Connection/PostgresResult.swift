internal import CPostgres

/// The rows that a statement returned, in binary format. It belongs to the thread that asked.
final class PostgresResult {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    /// How many rows there are.
    var count: Int { Int(PQntuples(handle)) }

    /// How many columns there are.
    var columns: Int { Int(PQnfields(handle)) }

    /// What the statement did, such as `COMMIT` or `INSERT 0 1`.
    var tag: String { String(cString: PQcmdStatus(handle)) }

    /// How many rows the statement changed.
    var changed: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    /// A column's bytes while the closure runs.
    func withBytes<Result>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let length = Int(PQgetlength(handle, Int32(row), Int32(column)))
        return try body(UnsafeRawBufferPointer(start: PQgetvalue(handle, Int32(row), Int32(column)), count: length))
    }

    func bytes(_ row: Int, _ column: Int) -> [UInt8] { withBytes(row, column) { Array($0) } }

    func optionalBytes(_ row: Int, _ column: Int) -> [UInt8]? { isNull(row, column) ? nil : bytes(row, column) }

    func text(_ row: Int, _ column: Int) -> String { withBytes(row, column) { String(decoding: $0, as: UTF8.self) } }

    /// An integer of any width; 0 for SQL's null.
    func integer(_ row: Int, _ column: Int) -> Int64 {
        withBytes(row, column) { bytes in
            guard let first = bytes.first, bytes.count <= 8 else { return 0 }
            let start: Int64 = first & 0x80 == 0 ? 0 : -1
            return bytes.reduce(start) { $0 << 8 | Int64($1) }
        }
    }

    func flag(_ row: Int, _ column: Int) -> Bool { integer(row, column) != 0 }

    /// A value for each row.
    func map<Value>(_ body: (Int) throws -> Value) rethrows -> [Value] { try (0..<count).map(body) }
}
