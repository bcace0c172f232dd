internal import SettlePlatform

/// A JSON number: its spelling, and its value on demand.
public struct JSONNumber: Sendable {
    /// The number's spelling in JSON.
    public let text: String

    init(unchecked text: String) { self.text = text }

    /// Creates an integer.
    public init(_ value: some BinaryInteger) { text = String(value) }

    /// Creates a float in its shortest spelling, always with a point or an exponent; `nil` for infinity and NaN.
    ///
    /// The smallest ones get a redundant point, `5.0e-324`, because CouchDB reads them as zero without it.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        let spelling = JSONNumber.spelling(of: value)
        let needsPoint = value.isSubnormal && !spelling.utf8.contains(UInt8(ascii: "."))
        text = needsPoint ? spelling.split(separator: "e").joined(separator: ".0e") : spelling
    }

    /// Parses a number from JSON text, or returns `nil` if it is invalid.
    public init?(text: String) {
        var copy = text
        let isNumber = copy.withUTF8 { bytes in
            guard let token = JSONNumberToken(of: bytes), token.end == bytes.count else { return false }
            return !JSONNumberConversion.isOutOfRange(token, in: bytes)
        }
        guard isNumber else { return nil }
        self.text = text
    }

    /// Whether the number is an integer: it has neither point nor exponent.
    public var isInteger: Bool { !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") } }

    /// The value, or `nil` if it is not an integer or exceeds 64 bits.
    public var int: Int? { isInteger ? Int(text) : nil }

    /// The value as the nearest float; integers beyond its range become infinite.
    public var double: Double {
        var copy = text
        return copy.withUTF8 { bytes in
            JSONNumberToken(of: bytes).map { JSONNumberConversion.double($0, in: bytes) } ?? 0
        }
    }

    /// A finite float in CouchDB's spelling: `1000.0`, `1e+22`, `1e-7`.
    package static func spelling(of value: Double) -> String {
        let shortest = value.description
        guard let mark = shortest.utf8.firstIndex(of: UInt8(ascii: "e")) else { return shortest }
        let exponent = Int(shortest[shortest.index(after: mark)...]) ?? 0
        var digits = shortest[..<mark].filter { $0 != "-" && $0 != "." }
        let isWhole = shortest[..<mark].hasSuffix(".0")
        if isWhole { digits.removeLast() }
        let sign = value < 0 ? "-" : ""
        if 0...20 ~= exponent, digits.count <= exponent + 1 {
            return sign + digits + String(repeating: "0", count: exponent + 1 - digits.count) + ".0"
        }
        if -6...(-1) ~= exponent {
            return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits
        }
        let fraction = digits.dropFirst()
        let mantissa = digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction)
        return sign + mantissa + "e" + (exponent < 0 ? "-" : "+") + String(exponent.magnitude)
    }
}

extension JSONNumber: Hashable, CustomStringConvertible {
    /// Whether both are integers of one value, or both floats of the same bits.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.text == right.text { return true }
        guard left.isInteger == right.isInteger else { return false }
        return left.isInteger
            ? left.integerText == right.integerText : left.double.bitPattern == right.double.bitPattern
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        if isInteger { hasher.combine(integerText) } else { hasher.combine(double.bitPattern) }
    }

    /// The spelling, normalised for the one integer that has two.
    private var integerText: String { text == "-0" ? "0" : text }

    /// The number's spelling.
    public var description: String { text }
}
