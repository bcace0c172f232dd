/// A number in a text, taken apart as far as the scanner got for nothing.
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
    /// The digits before and behind the point as one integer, wrapped around past 19 of them.
    let mantissa: UInt64
    /// How many digits the mantissa has, leading zeros included.
    let digits: Int
    /// The power of ten the mantissa is to be multiplied with.
    let exponent: Int

    /// Whether the number is an integer: JSON's `1`, not `1.0` (SEMANTICS 198).
    var isInteger: Bool { !hasFraction && !hasExponent }

    /// The integer's value, or `nil` when it is no integer or needs more than 63 bits.
    var smallInteger: Int64? {
        guard isInteger, digits <= 18 else { return nil }
        let magnitude = Int64(truncatingIfNeeded: mantissa)
        return isNegative ? -magnitude : magnitude
    }
}

extension JSONNumberToken {
    /// Takes the number at the start of a text apart; nil where there is none.
    init?(of text: UnsafeBufferPointer<UInt8>) {
        guard let base = text.baseAddress, text.count > 0 else { return nil }
        var scanner = JSONNumberScanner(base: base, count: text.count, offset: 0)
        guard let token = scanner.scan() else { return nil }
        self = token
    }
}
