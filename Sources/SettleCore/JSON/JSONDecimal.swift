/// A number in exact decimal form: a sign, digits, and a power of ten.
///
/// Each value has one form: digits have no zeros at either end, and zero has no sign. So `10`, `1e1` and `10.0` are
/// equal here, although ``JSONNumber`` distinguishes integers from floats. Nothing is rounded. Exponents above a
/// million count as a million.
package struct JSONDecimal: Hashable, Sendable {
    /// Whether the value is below zero.
    package let isNegative: Bool
    /// The digits from 0 to 9; empty for zero.
    package let digits: [UInt8]
    /// The power of ten by which the digits, read as an integer, are multiplied; 0 for zero.
    package let exponent: Int

    /// Converts a number.
    ///
    /// - Complexity: O(*n*) in the length of its spelling.
    package init(_ number: JSONNumber) {
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        var spelling = Substring(number.text).utf8
        let isNegative = spelling.first == UInt8(ascii: "-")
        if isNegative { spelling = spelling.dropFirst() }
        while let byte = spelling.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if isFraction { exponent -= 1 }
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte - UInt8(ascii: "0")) }
            case UInt8(ascii: "."): isFraction = true
            default:
                exponent += Self.power(spelling)
                spelling = spelling.suffix(0)
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        self.isNegative = isNegative && !digits.isEmpty
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    /// Whether the value has no fraction.
    package var isInteger: Bool { exponent >= 0 }

    /// The value as an integer without point and exponent; `nil` for fractions and past 400 digits.
    package var integerText: String? {
        guard isInteger, digits.count + exponent <= 400 else { return nil }
        if digits.isEmpty { return "0" }
        let text = String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        return (isNegative ? "-" : "") + text + String(repeating: "0", count: exponent)
    }

    private static func power(_ text: Substring.UTF8View) -> Int {
        var value = 0
        for byte in text where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            value = min(value * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000)
        }
        return text.first == UInt8(ascii: "-") ? -value : value
    }
}

extension JSONDecimal: Comparable {
    /// Whether the left value is smaller.
    ///
    /// - Complexity: O(*n*) in digits.
    package static func < (left: JSONDecimal, right: JSONDecimal) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isCloserToZero(than: left) : left.isCloserToZero(than: right)
    }

    private func isCloserToZero(than other: JSONDecimal) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        let places = (digits.count + exponent, other.digits.count + other.exponent)
        return places.0 == places.1 ? digits.lexicographicallyPrecedes(other.digits) : places.0 < places.1
    }
}
