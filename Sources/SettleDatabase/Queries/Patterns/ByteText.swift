/// Bytes as text that an engine for Unicode treats as bytes: the byte 80 is U+E080, and so on to U+E0FF.
///
/// These code points are for private use. They have no case and are no letters, digits or blanks, so that each counts as one
/// character without properties, as a byte above 7F does in PCRE2.
enum ByteText {
    /// The code unit of a byte.
    static func unit(_ byte: UInt8) -> UInt16 { byte < 0x80 ? UInt16(byte) : 0xe000 + UInt16(byte) }

    /// A text with its bytes as characters, and how many there are.
    static func text(_ text: String) -> (text: String, count: Int) {
        let count = text.utf8.count
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return (text, count) }
        return (String(decoding: text.utf8.map(unit), as: UTF16.self), count)
    }
}
