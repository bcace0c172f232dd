/// Finds the end of a string and checks what is inside.
///
/// ``JSONStructure`` finds the quotes, backslashes, control characters and multi-byte characters; only those are looked at
/// alone.
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

    /// Goes to the closing quote; returns what is wrong, with `offset` at the place, or nil.
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

    /// Whether the text ends inside what may have become a `\u` escape.
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
