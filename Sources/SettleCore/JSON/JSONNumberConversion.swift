internal import SettlePlatform

/// The value of a number's spelling.
enum JSONNumberConversion {
    /// The nearest 64-bit float of a token.
    static func double(_ token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> Double {
        if let exact = short(token) { return exact }
        return Double(characters(of: token, in: text)) ?? 0
    }

    /// The float that CouchDB 3.5 reads, whose bits enter the revision id (SEMANTICS 198).
    ///
    /// CouchDB parses a float with `strtod`; but one without a point, if it is 32 characters or longer or underflows, is the
    /// integer before the `e` times a power of ten, rounded twice. That is why `5e-324` is zero there.
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

    /// The float of a token with few digits and a small exponent, which both ways of reading give.
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

/// A number in a text, with the parts that the scanner gets at no cost.
struct JSONNumberToken {
    /// Where the number begins, at its sign if it has one.
    let start: Int
    /// Where the number ends.
    let end: Int
    /// Whether there is a minus sign.
    let isNegative: Bool
    /// Whether there is a point.
    let hasFraction: Bool
    /// Whether there is an exponent.
    let hasExponent: Bool
    /// The digits before and after the point as one integer, wrapped around past 19 of them.
    let mantissa: UInt64
    /// How many digits the mantissa has, leading zeros included.
    let digits: Int
    /// The power of ten that the mantissa is multiplied by.
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
