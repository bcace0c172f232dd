/// Numbers in as few bytes as they need: seven bits a byte, the lowest first, the highest bit set but in the last.
enum VariableNumber {
    static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = UInt(bitPattern: number)
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Reads a number and moves the position behind it; `nil` for invalid input.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Int? {
        var number: UInt = 0
        var shift: UInt = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            number |= UInt(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return Int(bitPattern: number) }
            shift += 7
        }
        return nil
    }
}
