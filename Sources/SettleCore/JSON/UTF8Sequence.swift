/// One character of UTF-8 that is not ASCII.
enum UTF8Sequence {
    /// How many bytes the character takes, or 0 when the bytes are not valid: cut short, overlong, a surrogate, or
    /// past U+10FFFF.
    @inline(__always)
    static func length(at bytes: UnsafePointer<UInt8>, available: Int) -> Int {
        let first = bytes[0]
        switch first {
        case 0xC2...0xDF:
            return available >= 2 && isContinuation(bytes[1]) ? 2 : 0
        case 0xE0...0xEF:
            guard available >= 3, isContinuation(bytes[1]), isContinuation(bytes[2]) else { return 0 }
            if first == 0xE0 && bytes[1] < 0xA0 { return 0 }
            if first == 0xED && bytes[1] > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            guard available >= 4, isContinuation(bytes[1]), isContinuation(bytes[2]), isContinuation(bytes[3])
            else { return 0 }
            if first == 0xF0 && bytes[1] < 0x90 { return 0 }
            if first == 0xF4 && bytes[1] > 0x8F { return 0 }
            return 4
        default: return 0
        }
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
