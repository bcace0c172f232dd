/// The tags of Erlang's external term format that a revision id needs, minor version 1 (SEMANTICS 198).
enum ExternalTerm {
    static let version: UInt8 = 131
    static let smallInteger: UInt8 = 97
    static let integer: UInt8 = 98
    static let atom: UInt8 = 100
    static let smallTuple: UInt8 = 104
    static let emptyList: UInt8 = 106
    static let byteList: UInt8 = 107
    static let list: UInt8 = 108
    static let binary: UInt8 = 109
    static let smallBignum: UInt8 = 110
    static let largeBignum: UInt8 = 111
    static let float: UInt8 = 70

    /// The longest list of bytes that is written as one string of bytes.
    static let longestByteList = 65_535
    /// The bound on the bytes of a term per byte of its text: `[` takes five, everything else less.
    static let expansion = 6
}

extension ByteWriter {
    /// Writes an integer of up to 64 bits.
    @inline(__always)
    mutating func appendTerm(_ value: Int64) {
        switch value {
        case 0...255:
            append(ExternalTerm.smallInteger)
            append(UInt8(truncatingIfNeeded: value))
        case Int64(Int32.min)...Int64(Int32.max):
            append(ExternalTerm.integer)
            append(bigEndian: UInt32(bitPattern: Int32(truncatingIfNeeded: value)))
        default: appendBignum(BigInteger(value.magnitude), isNegative: value < 0)
        }
    }

    /// Writes an integer that needs more than 32 bits: its length, sign and bytes, the lowest first.
    mutating func appendBignum(_ value: BigInteger, isNegative: Bool) {
        let bytes = value.littleEndianBytes
        if bytes.count <= 255 {
            append(ExternalTerm.smallBignum)
            append(UInt8(truncatingIfNeeded: bytes.count))
        } else {
            append(ExternalTerm.largeBignum)
            append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        }
        append(isNegative ? 1 : 0)
        for byte in bytes { append(byte) }
    }

    /// Writes an atom: `true`, `false`, `null`.
    @inline(__always)
    mutating func appendAtom(_ word: StaticString) {
        append(ExternalTerm.atom)
        append(0)
        append(UInt8(truncatingIfNeeded: word.utf8CodeUnitCount))
        append(word.utf8Start, count: word.utf8CodeUnitCount)
    }

    /// Writes bytes as a binary.
    mutating func appendBinary(_ bytes: [UInt8]) {
        append(ExternalTerm.binary)
        append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        for byte in bytes { append(byte) }
    }
}
