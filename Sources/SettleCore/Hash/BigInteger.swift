/// An unsigned integer of any size, with only the operations needed to write it in binary.
struct BigInteger {
    /// Words of 64 bits, the lowest first, without zeros at the top.
    private var words: [UInt64]

    init(_ value: UInt64) { words = value == 0 ? [] : [value] }

    /// Reads decimal digits, eighteen at a time.
    ///
    /// - Complexity: O(*n*²) in digits, which is why ``JSONLimits/integerDigits`` bounds them.
    init(digits: some Sequence<UInt8>) {
        words = []
        var chunk: UInt64 = 0
        var scale: UInt64 = 1
        for digit in digits {
            chunk = chunk * 10 + UInt64(digit & 15)
            scale *= 10
            if scale == 1_000_000_000_000_000_000 {
                multiply(by: scale, adding: chunk)
                chunk = 0
                scale = 1
            }
        }
        if scale > 1 { multiply(by: scale, adding: chunk) }
    }

    private mutating func multiply(by factor: UInt64, adding addend: UInt64) {
        var carry = addend
        for index in words.indices {
            let (high, low) = words[index].multipliedFullWidth(by: factor)
            let (sum, overflow) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high &+ (overflow ? 1 : 0)
        }
        if carry > 0 { words.append(carry) }
    }

    /// The value if it fits into 63 bits.
    var small: Int64? { words.isEmpty ? 0 : words.count == 1 ? Int64(exactly: words[0]) : nil }

    /// The bytes, the lowest first, without zeros at the top.
    var littleEndianBytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in words {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }
        while bytes.last == 0 { bytes.removeLast() }
        return bytes
    }
}
