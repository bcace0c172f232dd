import SettleCore

/// JSON Schema's equality of JSON values: `1` equals `1.0`, and the order of members is ignored.
enum SchemaCanonical {
    /// Bytes that are equal for equal values and different for others.
    ///
    /// - Complexity: O(*n* log *n*) in the size of the value.
    static func bytes(_ value: JSON) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    private static func append(_ value: JSON, to bytes: inout [UInt8]) {
        switch value {
        case .number(let number):
            let decimal = JSONDecimal(number)
            let digits = String(decoding: decimal.digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
            bytes += Array("\(decimal.isNegative ? "-" : "")\(digits)e\(decimal.exponent)".utf8)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for element in elements {
                append(element, to: &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for member in members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                bytes += JSON.string(member.name).utf8
                bytes.append(UInt8(ascii: ":"))
                append(member.value, to: &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "}"))
        default: bytes += value.utf8
        }
    }
}
