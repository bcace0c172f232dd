internal import SettlePlatform

/// The value of a number's spelling as CouchDB 3.5 reads it.
///
/// CouchDB takes a float by `strtod`; but one without a point, if it is 32 characters or longer or underflows, is the
/// integer before the `e` times a power of ten, rounded twice. That is why `5e-324` is zero there;
/// the same spelling must give the same bits here, for they enter the revision id (SEMANTICS 198).
enum JSONNumberConversion {
    /// The value of a token as a 64-bit float.
    static func double(_ token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> Double {
        // Both factors are exact, so one rounding gives the nearest float (Clinger's fast path).
        if token.digits <= 15, -22...22 ~= token.exponent, token.end - token.start < 32 {
            let mantissa = Double(token.mantissa)
            let scaled =
                token.exponent < 0
                ? mantissa / powersOfTen[-token.exponent] : mantissa * powersOfTen[token.exponent]
            return token.isNegative ? -scaled : scaled
        }
        let spelling = String(decoding: UnsafeBufferPointer(rebasing: text[token.start..<token.end]), as: UTF8.self)
        let value = Double(spelling) ?? 0
        let isZero = token.mantissa == 0 && token.digits <= 19
        let underflows = value.magnitude < .leastNormalMagnitude && !isZero
        guard !token.hasFraction, token.hasExponent, underflows || spelling.utf8.count >= 32 else { return value }
        let parts = spelling.split(whereSeparator: { $0 == "e" || $0 == "E" })
        guard parts.count == 2, let integer = Double(parts[0]) else { return value }
        return integer * pow(10, Double(token.exponent))
    }

    /// Whether a number has no place in a 64-bit float, or is an integer with too many digits.
    static func isOutOfRange(_ token: JSONNumberToken, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        token.isInteger ? token.digits > JSONLimits.integerDigits : !double(token, in: text).isFinite
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
