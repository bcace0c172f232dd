/// A set of bytes, the meaning of a character class in a pattern.
struct ByteSet: Hashable {
    private var isMember = [Bool](repeating: false, count: 256)

    init(_ ranges: ClosedRange<UInt8>...) { for range in ranges { insert(range) } }

    static let digits = ByteSet(48...57)
    static let lower = ByteSet(97...122)
    static let upper = ByteSet(65...90)
    static let words = ByteSet(48...57, 65...90, 95...95, 97...122)
    static let spaces = ByteSet(9...13, 32...32)
    static let horizontal = ByteSet(9...9, 32...32, 0xa0...0xa0)
    static let vertical = ByteSet(10...13, 0x85...0x85)
    static let all = ByteSet(0...255)

    /// The POSIX classes by name, as in `[[:alpha:]]`.
    static let named: [String: ByteSet] = [
        "alpha": ByteSet(65...90, 97...122), "lower": lower, "upper": upper, "digit": digits, "space": spaces,
        "alnum": ByteSet(48...57, 65...90, 97...122), "ascii": ByteSet(0...127), "blank": ByteSet(9...9, 32...32),
        "cntrl": ByteSet(0...31, 127...127), "graph": ByteSet(33...126), "print": ByteSet(32...126), "word": words,
        "punct": ByteSet(33...47, 58...64, 91...96, 123...126), "xdigit": ByteSet(48...57, 65...70, 97...102),
    ]

    var isEmpty: Bool { !isMember.contains(true) }

    mutating func insert(_ range: ClosedRange<UInt8>) { for byte in range { isMember[Int(byte)] = true } }

    mutating func formUnion(_ other: ByteSet) {
        for byte in 0..<256 where other.isMember[byte] { isMember[byte] = true }
    }

    /// The complement of the set.
    var inverted: ByteSet {
        var set = self
        set.isMember = isMember.map { !$0 }
        return set
    }

    /// The set, including the other case of its letters.
    var ignoringCase: ByteSet {
        var set = self
        for letter in 65...90 where isMember[letter] || isMember[letter + 32] {
            (set.isMember[letter], set.isMember[letter + 32]) = (true, true)
        }
        return set
    }

    /// The byte, if there is exactly one.
    var onlyByte: UInt8? {
        guard let first = isMember.firstIndex(of: true), first == isMember.lastIndex(of: true) else { return nil }
        return UInt8(first)
    }

    /// The set in ICU's language: a letter or digit unchanged, anything else as a class of ranges.
    var pattern: String {
        var ranges: [ClosedRange<UInt8>] = []
        for byte in UInt8(0)...255 where isMember[Int(byte)] {
            // A range ends before 80, because the code units of higher bytes are elsewhere.
            if let last = ranges.last, last.upperBound &+ 1 == byte, byte != 0x80 {
                ranges[ranges.count - 1] = last.lowerBound...byte
            } else {
                ranges.append(byte...byte)
            }
        }
        if ranges.count == 1, let range = ranges.first, range.count == 1 { return Self.escaped(range.lowerBound) }
        let texts = ranges.map { range in
            range.count == 1
                ? Self.escaped(range.lowerBound) : "\(Self.escaped(range.lowerBound))-\(Self.escaped(range.upperBound))"
        }
        return "[\(texts.joined())]"
    }

    private static func escaped(_ byte: UInt8) -> String {
        if words.isMember[Int(byte)] { return String(UnicodeScalar(byte)) }
        let digits = String(ByteText.unit(byte), radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

// MARK: - ByteText

/// Bytes as text that a Unicode engine treats as bytes: the byte 80 becomes U+E080, and so on up to U+E0FF.
///
/// These code points are for private use. They have no case and are not letters, digits or blanks. So each counts
/// as one character without properties, like a byte above 7F in PCRE2.
enum ByteText {
    /// The code unit of a byte.
    static func unit(_ byte: UInt8) -> UInt16 { byte < 0x80 ? UInt16(byte) : 0xe000 + UInt16(byte) }

    /// Converts the bytes of a text to characters; also returns their number.
    static func text(_ text: String) -> (text: String, count: Int) {
        let count = text.utf8.count
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return (text, count) }
        return (String(decoding: text.utf8.map(unit), as: UTF16.self), count)
    }
}
