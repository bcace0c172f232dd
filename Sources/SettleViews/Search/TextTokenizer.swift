/// Splits texts into the words that a search finds.
///
///     .words                          "Catalogue, Café" → catalogue, cafe
///     .words(foldsAccents: false)     "Catalogue, Café" → catalogue, café
///     .english                        the same, and "catalogues" is found by "catalogue"
///     .trigrams                       any three letters or more are found, also inside a word
///
/// All of them ignore case. In scripts without spaces between words, such as Chinese, Japanese and Thai, each
/// character is a word, and a search for several characters is a search for consecutive words. That does not apply
/// to the tokenizers ``trigrams``, ``unbroken`` and ``whole``.
public struct TextTokenizer: Hashable, Sendable {
    /// The tokenizer's specification for SQLite's FTS5.
    let specification: String
    /// Whether characters other than letters and digits can be searched.
    let takesSigns: Bool
    /// Whether characters of scripts without spaces are words.
    private let splitsCharacters: Bool
    /// Whether numbers belong to words, in addition to letters and signs.
    private let takesNumbers: Bool
    /// Other characters that belong to words.
    private let signs: String

    private init(_ specification: String, takesSigns: Bool = false) {
        self.specification = specification
        self.takesSigns = takesSigns
        (splitsCharacters, takesNumbers, signs) = (false, true, "")
    }

    /// Words of letters and digits, changed by `options`.
    private init(words options: String, stemmer: String = "", signs: String = "", takesNumbers: Bool = true) {
        specification = "\(stemmer)unicode61 \(options) tokenchars '\(SpacelessScripts.markCharacters)\(signs)'"
        takesSigns = !signs.isEmpty
        splitsCharacters = true
        self.takesNumbers = takesNumbers
        self.signs = signs
    }

    /// A text in the form for the tokenizer of FTS5, both in an index and in a search.
    func prepared(_ text: String) -> String { splitsCharacters ? SpacelessScripts.separated(text) : text }

    /// Letters and digits, with or without their accents.
    public static let words: TextTokenizer = .words(foldsAccents: true)

    /// Letters and digits.
    ///
    /// - Parameters:
    ///   - foldsAccents: Whether e matches é, and é matches e.
    ///   - signs: Other characters that belong to words, such as `_` or `@`, but not spaces and quotes.
    /// - Returns: The tokenizer.
    public static func words(foldsAccents: Bool = true, signs: String = "") -> TextTokenizer {
        let others = signs.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        return TextTokenizer(words: "remove_diacritics \(foldsAccents ? 2 : 0)", signs: others)
    }

    /// Words stemmed for English, so that `connect` finds "connected" and "connections".
    public static let english = TextTokenizer(words: "remove_diacritics 2", stemmer: "porter ")

    /// All sequences of three characters, so that a part of a word of three or more is found; takes several times the
    /// space.
    public static let trigrams = TextTokenizer("trigram", takesSigns: true)

    /// Everything between white space.
    public static let unbroken = TextTokenizer(
        "unicode61 remove_diacritics 2 categories 'L* M* N* P* S* Co'", takesSigns: true)

    /// Letters only: digits separate words, as punctuation does.
    public static let letters = TextTokenizer(words: "remove_diacritics 2 categories 'L*'", takesNumbers: false)

    /// Each text as one word, which a search quotes; case and accents are ignored.
    public static let whole = TextTokenizer(
        "unicode61 remove_diacritics 2 categories 'L* M* N* P* S* Z* C*'", takesSigns: true)

    /// Whether a text has a character of a word, by the categories of FTS5; it finds nothing for any other text.
    func hasWord(in text: String) -> Bool {
        guard splitsCharacters else { return !text.allSatisfy(\.isWhitespace) }
        return text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
            case .decimalNumber, .letterNumber, .otherNumber, .privateUse: takesNumbers
            default: SpacelessScripts.isMark(scalar) || signs.unicodeScalars.contains(scalar)
            }
        }
    }

    /// Whether each text is one word, so that a search for nearby words can't match.
    var isWhole: Bool { self == .whole }

    /// The tokenizer closest to one of the analyzers of CouchDB's text indexes; `nil` for analyzers of languages
    /// other than English, and for unknown ones.
    ///
    ///     standard, classic   words          simple       letters      keyword     whole
    ///     email               words and @    whitespace   unbroken     english     english
    public init?(analyzer name: String) {
        switch name {
        case "standard", "classic": self = .words
        case "email": self = .words(signs: "@._-+")
        case "simple", "simple_asciifolding": self = .letters
        case "whitespace": self = .unbroken
        case "keyword": self = .whole
        case "english": self = .english
        default: return nil
        }
    }

    /// The names that ``init(analyzer:)`` supports.
    static let analyzers = ["classic", "email", "english", "keyword", "simple", "standard", "whitespace"]
}

// MARK: - SpacelessScripts

/// Makes each character a word in texts of scripts that have no spaces between words.
///
///     東京に行く      東 京 に 行 く         a search for 京に is one for the words 京 and に in a row
///     ภาษาไทย      ภ า ษ า ไ ท ย        vowel signs and tones stay with their letters
///
/// The tokenizers of FTS5 break texts only at spaces and punctuation, so an invisible separator is inserted between
/// the characters. CouchDB's analyzer `standard` also makes single Han and Hiragana characters words; but there a
/// run of Katakana or Thai is one word.
enum SpacelessScripts {
    /// The separator, U+2063 INVISIBLE SEPARATOR.
    private static let separator: Unicode.Scalar = "\u{2063}"

    /// Han, kana, Bopomofo, Thai, Lao, Khmer, Myanmar and the scripts of the Tai languages.
    private static let letters: [ClosedRange<UInt32>] = [
        0x0E01...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x1950...0x19DF, 0x1A20...0x1AAF, 0x2E80...0x2FDF,
        0x3005...0x3007, 0x3021...0x3029, 0x3038...0x303B, 0x3041...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA9E0...0xA9FF, 0xAA60...0xAADF, 0xF900...0xFAFF, 0xFF66...0xFF9F,
        0x1B000...0x1B16F, 0x20000...0x3FFFD,
    ]

    /// The combining marks of these scripts, which belong to the preceding letter.
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
        // In UTF-8 such characters have at least three bytes.
        guard text.utf8.contains(where: { $0 >= 0xE0 }) else { return text }
        var output = String.UnicodeScalarView()
        var wasLetter = false
        for scalar in text.unicodeScalars {
            if isMark(scalar) {
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

    /// Whether a character is a combining mark of these scripts.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool { isIn(marks, scalar) }

    private static func isIn(_ ranges: [ClosedRange<UInt32>], _ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x0E01 else { return false }
        return ranges.contains { $0.contains(scalar.value) }
    }
}
