/// Follows strings, escapes and brackets through the bytes of a JSON text, which may come in pieces.
///
///     {"a":"x]\"", "b":[1,2]}
///     ^   ^       ^   ^^ ^ ^^      ``next(in:from:)`` stops here; never inside of strings
///
/// It validates nothing: text that must be JSON is scanned by a ``JSONScanner``, which reads strings eight bytes at
/// a time in the same way.
package struct JSONStructure: Sendable {
    private enum Place { case outside, string, escape }

    /// The number of open brackets; negative if more were closed than opened.
    package private(set) var depth = 0
    private var place: Place
    /// Whether the last skipped string contains a backslash.
    private(set) var hasEscapes = false

    /// Starts outside of everything, or after the opening quote of a string.
    package init(isInString: Bool = false) { place = isInString ? .string : .outside }

    /// Advances past the next bracket, comma or colon outside of strings.
    ///
    /// - Parameters:
    ///   - text: The text, or the next piece of it.
    ///   - offset: The position to start from; on return, the position after the byte, or the end of the piece.
    /// - Returns: The byte, already counted in ``depth``; `nil` at the end of the piece.
    package mutating func next(in text: UnsafeBufferPointer<UInt8>, from offset: inout Int) -> UInt8? {
        guard let base = text.baseAddress else { return nil }
        let count = text.count
        while offset < count {
            if place != .outside {
                _ = skipString(base, count, &offset)
                continue
            }
            let byte = base[offset]
            offset &+= 1
            switch byte {
            case UInt8(ascii: "\""): (place, hasEscapes) = (.string, false)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth &+= 1
                return byte
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth &-= 1
                return byte
            case UInt8(ascii: ","), UInt8(ascii: ":"): return byte
            default: break
            }
        }
        return nil
    }

    /// Advances past the closing quote of the current string; false at the end of the piece.
    mutating func skipString(in text: UnsafeBufferPointer<UInt8>, from offset: inout Int) -> Bool {
        text.baseAddress.map { skipString($0, text.count, &offset) } ?? false
    }

    @inline(__always)
    private mutating func skipString(_ base: UnsafePointer<UInt8>, _ count: Int, _ offset: inout Int) -> Bool {
        if place == .escape, offset < count {
            place = .string
            offset &+= 1
        }
        while true {
            offset = Self.plainEnd(base, from: offset, to: count, isChecked: false)
            guard offset < count else { return false }
            let byte = base[offset]
            offset &+= 1
            if byte == UInt8(ascii: "\"") {
                place = .outside
                return true
            }
            guard byte == UInt8(ascii: "\\") else { continue }
            hasEscapes = true
            guard offset < count else {
                place = .escape
                return false
            }
            offset &+= 1
        }
    }
}

extension JSONStructure {
    /// The position of the next quote or backslash of a string, or a position with fewer than eight bytes left. If
    /// the string is validated, control characters and bytes of multi-byte characters are found too.
    @inline(__always)
    static func plainEnd(_ base: UnsafePointer<UInt8>, from start: Int, to count: Int, isChecked: Bool) -> Int {
        let raw = UnsafeRawPointer(base)
        var offset = start
        while offset &+ 8 <= count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            var special = zeroBytes(word ^ 0x2222_2222_2222_2222) | zeroBytes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
            if isChecked {
                special |= (word &- 0x2020_2020_2020_2020) & ~word & highBits | word & highBits
            }
            if special != 0 { return offset &+ special.trailingZeroBitCount >> 3 }
            offset &+= 8
        }
        return offset
    }

    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    /// The high bit of every byte that is zero; bits above the lowest one may be wrong.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word & highBits }
}
