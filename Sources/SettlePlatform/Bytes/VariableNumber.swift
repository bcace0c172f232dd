/// Numbers in as few bytes as possible (LEB128): seven bits per byte, lowest bits first; all bytes except the last
/// have their highest bit set.
public enum VariableNumber {
    /// Appends a number.
    @inlinable
    public static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a number that is not negative, such as a count.
    @inlinable
    public static func append(_ number: Int, to bytes: inout [UInt8]) { append(UInt64(number), to: &bytes) }

    /// Reads a number and advances the position past it.
    ///
    /// - Returns: `nil` if the bytes end too early, contain more than 64 bits, or are longer than the number needs.
    @inlinable
    public static func read(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            let bits = UInt64(byte & 0x7F)
            guard shift < 63 || (shift == 63 && bits <= 1) else { return nil }
            number |= bits << shift
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : number }
            shift += 7
        }
        return nil
    }

    /// Reads the length of the bytes that follow, which is at most the number of bytes left, and advances the
    /// position past it.
    @inlinable
    public static func readLength(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
        guard let length = read(bytes, &position), length <= UInt64(bytes.count - position) else { return nil }
        return Int(length)
    }
}
