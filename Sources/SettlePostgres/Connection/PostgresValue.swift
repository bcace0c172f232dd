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

    /// The bytes that are sent; `nil` for SQL's null.
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

    /// PostgreSQL's numbers of types, which never change.
    private enum TypeNumber {
        static let bytes: Int32 = 17
        static let integer: Int32 = 20
        static let short: Int32 = 21
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// An array of one dimension: dimensions, whether there are nulls, type, length, lower bound, then each element with its
    /// length in front.
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
