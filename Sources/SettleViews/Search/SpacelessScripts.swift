/// Makes words of texts in scripts that have no spaces between words: each character is one.
///
///     東京に行く      東 京 に 行 く         a search for 京に is one for the words 京 and に in a row
///     ภาษาไทย      ภ า ษ า ไ ท ย        vowel signs and tones stay with their letters
///
/// The tokenizers of FTS5 break texts only at spaces and signs, so a sign that is not shown is put between the characters.
/// CouchDB's analyzer `standard` also makes words of single Han and Hiragana characters; runs of Katakana and of Thai are one word
/// there.
enum SpacelessScripts {
    /// The sign between characters, U+2063 INVISIBLE SEPARATOR.
    private static let separator: Unicode.Scalar = "\u{2063}"

    /// Han, kana, Bopomofo, Thai, Lao, Khmer, Myanmar and the scripts of the Tai languages.
    private static let letters: [ClosedRange<UInt32>] = [
        0x0E01...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x1950...0x19DF, 0x1A20...0x1AAF, 0x2E80...0x2FDF,
        0x3005...0x3007, 0x3021...0x3029, 0x3038...0x303B, 0x3041...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA9E0...0xA9FF, 0xAA60...0xAADF, 0xF900...0xFAFF, 0xFF66...0xFF9F,
        0x1B000...0x1B16F, 0x20000...0x3FFFD,
    ]

    /// The signs of these scripts that belong to the letter before them.
    private static let marks: [ClosedRange<UInt32>] = [
        0x0E31...0x0E31, 0x0E34...0x0E3A, 0x0E47...0x0E4E, 0x0EB1...0x0EB1, 0x0EB4...0x0EBC, 0x0EC8...0x0ECE,
        0x102B...0x103E, 0x1056...0x1059, 0x105E...0x1060, 0x1062...0x1064, 0x1067...0x106D, 0x1071...0x1074,
        0x1082...0x108D, 0x108F...0x108F, 0x109A...0x109D, 0x17B4...0x17D3, 0x17DD...0x17DD, 0x3099...0x309A,
    ]

    /// The marks, for a tokenizer that would break texts at them.
    static var markCharacters: String {
        var text = String.UnicodeScalarView()
        for range in marks { text.append(contentsOf: range.compactMap { Unicode.Scalar($0) }) }
        return String(text)
    }

    /// The text with a separator between such characters.
    static func separated(_ text: String) -> String {
        // Their UTF-8 has at least three bytes.
        guard text.utf8.contains(where: { $0 >= 0xE0 }) else { return text }
        var output = String.UnicodeScalarView()
        var wasLetter = false
        for scalar in text.unicodeScalars {
            if isIn(marks, scalar) {
                output.append(scalar)
                continue
            }
            let isLetter = isIn(letters, scalar)
            if isLetter || wasLetter, !output.isEmpty { output.append(separator) }
            output.append(scalar)
            wasLetter = isLetter
        }
        return String(output)
    }

    /// The text without separators.
    static func joined(_ text: String) -> String {
        guard text.unicodeScalars.contains(separator) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != separator }))
    }

    private static func isIn(_ ranges: [ClosedRange<UInt32>], _ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x0E01 else { return false }
        return ranges.contains { $0.contains(scalar.value) }
    }
}
