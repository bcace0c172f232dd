/// A checksum of 64 bits that finds damage in stored bytes. It is fast, but gives no protection against attackers.
///
/// Each step is a bijection of the previous state, and of the added word. So damage within one aligned word of
/// eight bytes is always found, and any other damage is missed with a probability of 2⁻⁶⁴.
package struct Checksum {
    /// The checksum of the bytes added so far.
    package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// The size of a stored checksum in bytes.
    package static let length = 8

    package init() {}

    /// Adds bytes and their number, so that moving a byte from one part to the next changes the checksum.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        step(UInt64(truncatingIfNeeded: bytes.count))
        let whole = bytes.count & ~7
        var offset = 0
        while offset < whole {
            step(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard whole < bytes.count else { return }
        var rest: UInt64 = 0
        for index in (whole..<bytes.count).reversed() { rest = rest << 8 | UInt64(bytes[index]) }
        step(rest)
    }

    private mutating func step(_ word: UInt64) {
        let product = (value ^ word) &* 0xD6E8_FEB8_6659_FD93
        value = product ^ product >> 32
    }

    /// Writes the checksum over the bytes at an offset.
    package func write(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }

    /// Whether the bytes at an offset are this checksum. There must be enough bytes.
    package func isWritten(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) == value
    }
}
