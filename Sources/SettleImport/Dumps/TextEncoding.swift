/// An encoding of text that is converted to UTF-8.
package enum TextEncoding: String, CaseIterable, Sendable {
    /// UTF-8, which stays as it is.
    case utf8 = "utf-8"
    /// UTF-16 in the order of bytes that a mark at the beginning shows; without one the lower byte comes first.
    case utf16 = "utf-16"
    /// UTF-16, the lower byte first.
    case utf16LittleEndian = "utf-16le"
    /// UTF-16, the higher byte first.
    case utf16BigEndian = "utf-16be"
    /// The encoding of older tables of Windows in Western Europe.
    case windows1252 = "windows-1252"
    /// ISO 8859-1: each byte is the character of its number.
    case latin1 = "iso-8859-1"
    /// The encoding of older Macs.
    case macRoman = "macintosh"

    /// The encoding that the first bytes show; `nil` for UTF-8, and where they don't tell.
    init?(of head: [UInt8]) {
        guard head.count >= 2 else { return nil }
        switch (head[0], head[1]) {
        case (0xFF, 0xFE): self = .utf16LittleEndian
        case (0xFE, 0xFF): self = .utf16BigEndian
        case (1..., 0) where head.count >= 4 && head[2] != 0 && head[3] == 0: self = .utf16LittleEndian
        case (0, 1...) where head.count >= 4 && head[2] == 0 && head[3] != 0: self = .utf16BigEndian
        default: return nil
        }
    }

    /// The characters of the bytes from 0x80 on; `nil` for UTF-8 and UTF-16.
    var upperHalf: [UInt32]? {
        switch self {
        case .utf8, .utf16, .utf16LittleEndian, .utf16BigEndian: nil
        case .latin1: Array(0x80...0xFF)
        case .windows1252: Self.windowsQuarter + Array(0xA0...0xFF)
        case .macRoman: Self.macHalf.unicodeScalars.map(\.value)
        }
    }

    /// The characters of 0x80 to 0x9F; five bytes have none, and stay control characters.
    private static let windowsQuarter: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D,
        0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D,
        0x17E, 0x178,
    ]

    private static let macHalf = """
        ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{A0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰\
        ÂÊÁËÈÍÎÏÌÓÔ\u{F8FF}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ
        """
}

// MARK: - TextConverter

/// Converts text to UTF-8, piece by piece.
final class TextConverter {
    private var isBigEndian: Bool
    private var isUndecided: Bool
    private let upperHalf: [UInt32]?
    /// The bytes of a character that the last piece ended in.
    private var rest: [UInt8] = []
    private var isFirst = true

    init(_ encoding: TextEncoding) {
        upperHalf = encoding.upperHalf
        isUndecided = encoding == .utf16
        isBigEndian = encoding == .utf16BigEndian
    }

    /// The text of a piece.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged` for a half of a character.
    func convert(_ piece: [UInt8], isLast: Bool) throws -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(piece.count * 3 / 2)
        if let upperHalf {
            for byte in piece {
                if byte < 0x80 { text.append(byte) } else { Self.append(upperHalf[Int(byte) - 0x80], to: &text) }
            }
            return text
        }
        let bytes = rest + piece
        var index = 0
        if isUndecided, bytes.count >= 2 {
            isUndecided = false
            isBigEndian = bytes[0] == 0xFE && bytes[1] == 0xFF
        }
        func unit(_ place: Int) -> UInt32 {
            let (first, second) = (UInt32(bytes[place]), UInt32(bytes[place + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        while index + 2 <= bytes.count {
            let first = unit(index)
            switch first {
            case 0xD800..<0xDC00:
                guard index + 4 <= bytes.count else {
                    if isLast { throw Self.half }
                    rest = Array(bytes[index...])
                    return text
                }
                let second = unit(index + 2)
                guard 0xDC00..<0xE000 ~= second else { throw Self.half }
                Self.append(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), to: &text)
                index += 4
                isFirst = false
                continue
            case 0xDC00..<0xE000: throw Self.half
            case 0xFEFF where isFirst: break
            default: Self.append(first, to: &text)
            }
            isFirst = false
            index += 2
        }
        rest = Array(bytes[index...])
        if isLast, !rest.isEmpty { throw Self.half }
        return text
    }

    private static let half = ForeignFileError(.damaged, "the text in UTF-16 has a half of a character")

    private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(scalar) else { return }
        if let encoded = UTF8.encode(scalar) { text.append(contentsOf: encoded) }
    }
}
