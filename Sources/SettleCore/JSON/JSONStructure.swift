/// Follows strings, escapes and brackets through the bytes of a JSON text, and goes on where a piece of it ended.
///
///     {"a":"x]\"", "b":[1,2]}
///     ^   ^       ^   ^^ ^ ^^      what ``next(in:from:)`` stops at; nothing inside of strings
///
/// It checks nothing: a text that has to be JSON goes through a ``JSONScanner``, which reads strings by the same eight bytes
/// at a time.
package struct JSONStructure: Sendable {
    private enum Place { case outside, string, escape }

    /// How many brackets are open; less than 0 where more were closed than opened.
    package private(set) var depth = 0
    private var place: Place
    /// Whether the last string that was passed has a backslash.
    private(set) var hasEscapes = false

    /// Begins outside of everything, or behind the opening quote of a string.
    package init(isInString: Bool = false) { place = isInString ? .string : .outside }

    /// Goes to the next bracket, comma or colon outside of strings, and past it.
    ///
    /// - Parameters:
    ///   - text: The text, or the piece of it that follows the one before.
    ///   - offset: Where to go on in it; afterwards the place behind what was found, or the end of the piece.
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

    /// Goes behind the closing quote of the string that the place is in; false, at the end of the piece, without one.
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
    /// Where the next quote or backslash of a string stands, or less than eight bytes are left to look at. Where a string is
    /// checked, control characters and parts of multi-byte ones are found, too.
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
