/// Splits texts into the words that a search finds.
///
///     .words                          "Catalogue, Café" → catalogue, cafe
///     .words(foldsAccents: false)     "Catalogue, Café" → catalogue, café
///     .english                        the same, and "catalogues" is found by "catalogue"
///     .trigrams                       any three letters or more are found, also inside a word
///
/// All of them ignore case. In scripts without spaces between words, such as Chinese, Japanese and Thai, each character is a
/// word, and a search for several characters is one for consecutive words. The tokenizers ``trigrams``, ``unbroken`` and ``whole``
/// don't do so.
public struct TextTokenizer: Hashable, Sendable {
    /// The tokenizer's specification for SQLite's FTS5.
    let specification: String
    /// Whether characters other than letters and digits can be searched.
    let takesSigns: Bool
    /// Whether characters of scripts without spaces are words.
    private let splitsCharacters: Bool

    private init(_ specification: String, takesSigns: Bool = false) {
        self.specification = specification
        self.takesSigns = takesSigns
        splitsCharacters = false
    }

    /// Words of letters and digits, or of what `options` says.
    private init(words options: String, stemmer: String = "", signs: String = "") {
        specification = "\(stemmer)unicode61 \(options) tokenchars '\(SpacelessScripts.markCharacters)\(signs)'"
        takesSigns = !signs.isEmpty
        splitsCharacters = true
    }

    /// A text as the tokenizer of FTS5 takes it, in an index and in a search.
    func prepared(_ text: String) -> String { splitsCharacters ? SpacelessScripts.separated(text) : text }

    /// Letters and digits, with or without their accents.
    public static let words: TextTokenizer = .words(foldsAccents: true)

    /// Letters and digits.
    ///
    /// - Parameters:
    ///   - foldsAccents: Whether e matches é, and the other way round.
    ///   - signs: Other characters that belong to words, such as `_` or `@`; spaces and quotes can't.
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

    /// Letters only: digits separate words as punctuation does.
    public static let letters = TextTokenizer(words: "remove_diacritics 2 categories 'L*'")

    /// Each text as one word, which a search names in quotes; case and accents are ignored.
    public static let whole = TextTokenizer(
        "unicode61 remove_diacritics 2 categories 'L* M* N* P* S* Z* C*'", takesSigns: true)

    /// Whether each text is one word, so that a search for nearby words can't match.
    var isWhole: Bool { self == .whole }

    /// The tokenizer closest to one of the analyzers of CouchDB's text indexes; `nil` for those of languages other
    /// than English, and for unknown ones.
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
