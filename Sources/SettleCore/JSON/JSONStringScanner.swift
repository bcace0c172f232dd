/// Finds the end of a string and validates its content.
///
/// ``JSONStructure`` finds the quotes, backslashes, control characters and multi-byte characters; only those are examined
/// individually.
struct JSONStringScanner {
    struct Failure {
        let code: JSONError.Code
        let message: String
    }

    let base: UnsafePointer<UInt8>
    let count: Int
    var offset: Int
    var hasEscapes = false

    init(base: UnsafePointer<UInt8>, count: Int, offset: Int) {
        self.base = base
        self.count = count
        self.offset = offset
    }

    /// Advances to the closing quote. Returns `nil`, or an error with `offset` at its position.
    @inline(__always)
    mutating func scan() -> Failure? {
        while true {
            offset = JSONStructure.plainEnd(base, from: offset, to: count, isChecked: true)
            guard offset < count else { return Failure(code: .unexpectedEnd, message: "a string does not end") }
            let byte = base[offset]
            switch byte {
            case UInt8(ascii: "\""): return nil
            case UInt8(ascii: "\\"):
                hasEscapes = true
                if let failure = scanEscape() { return failure }
            case 0..<0x20: return Failure(code: .syntax, message: "a control character in a string must be escaped")
            case 0x80...:
                let length = UTF8Sequence.length(at: base + offset, available: count &- offset)
                if length == 0 { return Failure(code: .invalidUTF8, message: "a string is not valid UTF-8") }
                offset &+= length
            default: offset &+= 1
            }
        }
    }

    private mutating func scanEscape() -> Failure? {
        guard offset &+ 1 < count else { return endInEscape() }
        switch base[offset &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset &+= 2
            return nil
        case UInt8(ascii: "u"):
            guard let unit = JSONEscape.unit(at: base + offset, available: count &- offset) else {
                if isCutShort(at: offset) { return endInEscape() }
                return Failure(code: .syntax, message: "\\u must be followed by four hex digits")
            }
            guard 0xD800...0xDFFF ~= unit else {
                offset &+= 6
                return nil
            }
            let low = JSONEscape.unit(at: base + offset + 6, available: count &- offset &- 6)
            guard unit < 0xDC00, let low, 0xDC00...0xDFFF ~= low else {
                if unit < 0xDC00, isCutShort(at: offset &+ 6) { return endInEscape() }
                return Failure(code: .loneSurrogate, message: "half of a surrogate pair")
            }
            offset &+= 12
            return nil
        default:
            offset &+= 1
            return Failure(code: .syntax, message: "no such escape")
        }
    }

    /// Whether the text ends inside a possible `\u` escape.
    private func isCutShort(at start: Int) -> Bool {
        guard count &- start < 6 else { return false }
        let rest = UnsafeBufferPointer(start: base + start, count: count &- start)
        return rest.prefix(2).elementsEqual("\\u".utf8.prefix(rest.count))
            && rest.dropFirst(2).allSatisfy { hexDigitValue($0) != nil }
    }

    private mutating func endInEscape() -> Failure {
        offset = count
        return Failure(code: .unexpectedEnd, message: "a string does not end")
    }
}

/// One character of UTF-8 that is not ASCII.
enum UTF8Sequence {
    /// The length of the character in bytes; 0 if the bytes are invalid: truncated, overlong, a surrogate, or past
    /// U+10FFFF.
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
