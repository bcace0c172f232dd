/// Compares strings by Unicode's root collation, as CouchDB does with ICU.
///
/// The order and the bytes of keys are those of ICU 72 on every system.
enum StringCollator {
    /// The version of the order.
    static var version: String { CollationData.version }

    /// Appends a string's sort key, which contains no zero byte, and a zero.
    static func appendSortKey(of text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { CollationKey(of: $0, in: .shared).append(to: &bytes) }
        bytes.append(0)
    }

    /// Appends the bytes of the text, those below two escaped as two, and a zero.
    static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if byte < 2 { bytes.append(1) }
            bytes.append(byte < 2 ? byte + 1 : byte)
        }
        bytes.append(0)
    }

    /// Compares two strings; canonically equivalent ones are equal.
    static func compare(_ left: String, _ right: String) -> Collation.Order {
        var (left, right) = (left, right)
        let order = left.withUTF8 { left in
            right.withUTF8 { right in CollationComparison(left: left, right: right, table: .shared).order() }
        }
        return Collation.Order(order, 0)
    }

    /// Compares two strings by their UTF-8.
    static func bytes(_ left: String, _ right: String) -> Collation.Order {
        if left.utf8.elementsEqual(right.utf8) { return .same }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .before : .after
    }
}
