internal import CPostgres

/// A value bound to a parameter of a statement, in PostgreSQL's binary format.
enum PostgresValue: Sendable {
    case integer(Int64)
    case short(Int16)
    case bytes([UInt8])
    case text(String)
    case null
    case integers([Int64])
    case shorts([Int16])
    case byteArrays([[UInt8]?])

    /// The encoded bytes; `nil` for SQL's null.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let number): Self.bigEndian(number)
        case .short(let number): Self.bigEndian(number)
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .null: nil
        case .integers(let numbers): Self.array(of: TypeNumber.integer, numbers.count) { Self.bigEndian(numbers[$0]) }
        case .shorts(let numbers): Self.array(of: TypeNumber.short, numbers.count) { Self.bigEndian(numbers[$0]) }
        case .byteArrays(let list): Self.array(of: TypeNumber.bytes, list.count) { list[$0] }
        }
    }

    /// PostgreSQL's type numbers, which never change.
    private enum TypeNumber {
        static let bytes: Int32 = 17
        static let integer: Int32 = 20
        static let short: Int32 = 21
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// A one-dimensional array: number of dimensions, whether there are nulls, type, length, lower bound, then each
    /// element after its length.
    private static func array(of type: Int32, _ count: Int, _ element: (Int) -> [UInt8]?) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in [count == 0 ? 0 : 1, 1, type] { bytes += bigEndian(Int32(number)) }
        guard count > 0 else { return bytes }
        bytes += bigEndian(Int32(count)) + bigEndian(Int32(1))
        for index in 0..<count {
            guard let one = element(index) else {
                bytes += bigEndian(Int32(-1))
                continue
            }
            bytes += bigEndian(Int32(one.count))
            bytes += one
        }
        return bytes
    }
}

/// A statement with the values of its parameters.
struct PostgresCall: Sendable {
    let statement: PostgresStatement
    let values: [PostgresValue]

    init(_ statement: PostgresStatement, _ values: PostgresValue...) {
        (self.statement, self.values) = (statement, values)
    }
}

// MARK: - PostgresResult

/// The rows that a statement returned, in binary format. Only the thread that ran the statement uses it.
final class PostgresResult {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    /// The number of rows.
    var count: Int { Int(PQntuples(handle)) }

    /// The number of columns.
    var columns: Int { Int(PQnfields(handle)) }

    /// The command tag, such as `COMMIT` or `INSERT 0 1`.
    var tag: String { String(cString: PQcmdStatus(handle)) }

    /// The number of rows that the statement changed.
    var changed: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    /// Runs a closure with the bytes of a column.
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

    /// Makes a value from each row.
    func map<Value>(_ body: (Int) throws -> Value) rethrows -> [Value] { try (0..<count).map(body) }
}
