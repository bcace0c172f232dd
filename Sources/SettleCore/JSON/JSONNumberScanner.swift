/// Finds the end of a number and collects its parts.
struct JSONNumberScanner {
    let base: UnsafePointer<UInt8>
    let count: Int
    var offset: Int

    /// Scans one number; `nil`, with `offset` at the place, if a digit is missing.
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
