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
    /// The smallest floats get a redundant point, `5.0e-324`, because CouchDB reads them as zero without it.
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
    /// Whether both are integers with the same value, or both are floats with the same bits.
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

    /// The spelling, normalized for the one integer that has two spellings.
    private var integerText: String { text == "-0" ? "0" : text }

    /// The number's spelling.
    public var description: String { text }
}

// MARK: - JSONNumberConversion

/// The value of a number's spelling.
enum JSONNumberConversion {
    /// The nearest 64-bit float of a token.
    static func double(_ token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> Double {
        if let exact = short(token) { return exact }
        return Double(characters(of: token, in: text)) ?? 0
    }

    /// The float that CouchDB 3.5 reads, whose bits are a part of the revision id (SEMANTICS 198).
    ///
    /// CouchDB parses a float with `strtod`. But a float without a point, if it has 32 or more characters or
    /// underflows, is read as the integer before the `e` times a power of ten, rounded twice. That is why `5e-324`
    /// is zero there.
    static func doubleInCouchDB(_ token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> Double {
        if let exact = short(token) { return exact }
        let spelling = characters(of: token, in: text)
        let value = Double(spelling) ?? 0
        let isZero = token.mantissa == 0 && token.digits <= 19
        let underflows = value.magnitude < .leastNormalMagnitude && !isZero
        guard !token.hasFraction, token.hasExponent, underflows || spelling.utf8.count >= 32 else { return value }
        let parts = spelling.split(whereSeparator: { $0 == "e" || $0 == "E" })
        guard parts.count == 2, let integer = Double(parts[0]) else { return value }
        return integer * pow(10, Double(token.exponent))
    }

    /// The float of a token with few digits and a small exponent, for which both ways of reading agree.
    private static func short(_ token: JSONNumberToken) -> Double? {
        // Both factors are exact, so one rounding gives the nearest float (Clinger's fast path).
        guard token.digits <= 15, -22...22 ~= token.exponent, token.end - token.start < 32 else { return nil }
        let mantissa = Double(token.mantissa)
        let scaled =
            token.exponent < 0 ? mantissa / powersOfTen[-token.exponent] : mantissa * powersOfTen[token.exponent]
        return token.isNegative ? -scaled : scaled
    }

    private static func characters(of token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: text[token.start..<token.end]), as: UTF8.self)
    }

    /// Whether a number exceeds a 64-bit float in CouchDB, or is an integer with too many digits.
    static func isOutOfRange(_ token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        token.isInteger ? token.digits > JSONLimits.integerDigits : !doubleInCouchDB(token, in: text).isFinite
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

/// A number in a text, with the properties that the scanner gets at no cost.
struct JSONNumberToken {
    /// The place where the number begins, at its sign if it has one.
    let start: Int
    /// The place where the number ends.
    let end: Int
    /// Whether there is a minus sign.
    let isNegative: Bool
    /// Whether there is a point.
    let hasFraction: Bool
    /// Whether there is an exponent.
    let hasExponent: Bool
    /// The digits before and after the point as one integer, wrapped around past 19 of them.
    let mantissa: UInt64
    /// The number of digits that the mantissa has, leading zeros included.
    let digits: Int
    /// The power of ten by which the mantissa is multiplied.
    let exponent: Int

    /// Whether the number is an integer: JSON's `1`, not `1.0` (SEMANTICS 198).
    var isInteger: Bool { !hasFraction && !hasExponent }

    /// The integer's value, or `nil` if it is not an integer or exceeds 63 bits.
    var smallInteger: Int64? {
        guard isInteger, digits <= 18 else { return nil }
        let magnitude = Int64(truncatingIfNeeded: mantissa)
        return isNegative ? -magnitude : magnitude
    }
}

extension JSONNumberToken {
    /// Parses the number at the start of a text; `nil` if the text does not begin with a number.
    init?(of text: UnsafeBufferPointer<UInt8>) {
        guard let base = text.baseAddress, text.count > 0 else { return nil }
        var scanner = JSONNumberScanner(base: base, count: text.count, offset: 0)
        guard let token = scanner.scan() else { return nil }
        self = token
    }
}

// MARK: - JSONNumberScanner

/// Finds the end of a number and collects its parts.
struct JSONNumberScanner {
    let base: UnsafePointer<UInt8>
    let count: Int
    var offset: Int

    /// Scans one number. If a digit is missing, returns `nil`, and `offset` is at its position.
    @inline(__always)
    mutating func scan() -> JSONNumberToken? {
        let start = offset
        let isNegative = base[offset] == UInt8(ascii: "-")
        if isNegative { offset &+= 1 }
        var mantissa: UInt64 = 0
        let firstDigit = offset
        if offset < count, base[offset] == UInt8(ascii: "0") {
            offset &+= 1
        } else {
            guard scanDigits(into: &mantissa) else { return nil }
        }
        var digits = offset &- firstDigit
        var exponent = 0
        var hasFraction = false
        if offset < count, base[offset] == UInt8(ascii: ".") {
            hasFraction = true
            offset &+= 1
            let first = offset
            guard scanDigits(into: &mantissa) else { return nil }
            exponent = first &- offset
            digits &-= exponent
        }
        var hasExponent = false
        if offset < count, base[offset] | 0x20 == UInt8(ascii: "e") {
            hasExponent = true
            offset &+= 1
            guard let power = scanExponent() else { return nil }
            exponent &+= power
        }
        return JSONNumberToken(
            start: start, end: offset, isNegative: isNegative, hasFraction: hasFraction, hasExponent: hasExponent,
            mantissa: mantissa, digits: digits, exponent: exponent)
    }

    /// Whether a number is so long or so large that its value must be checked.
    @inline(__always)
    func mayBeOutOfRange(_ token: JSONNumberToken) -> Bool {
        token.digits > 300 || token.digits &+ token.exponent > 300
    }

    @inline(__always)
    private mutating func scanDigits(into mantissa: inout UInt64) -> Bool {
        let first = offset
        while offset < count {
            let digit = base[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            mantissa = mantissa &* 10 &+ UInt64(digit)
            offset &+= 1
        }
        return offset > first
    }

    private mutating func scanExponent() -> Int? {
        var isNegative = false
        if offset < count, base[offset] == UInt8(ascii: "-") || base[offset] == UInt8(ascii: "+") {
            isNegative = base[offset] == UInt8(ascii: "-")
            offset &+= 1
        }
        let first = offset
        var value = 0
        while offset < count, case let digit = base[offset] &- UInt8(ascii: "0"), digit < 10 {
            value = min(value &* 10 &+ Int(digit), 1_000_000)
            offset &+= 1
        }
        guard offset > first else { return nil }
        return isNegative ? -value : value
    }
}
