/// How texts are taken apart into the words that a search finds.
///
///     .words                          "Catalogue, Café" → catalogue, cafe
///     .words(foldsAccents: false)     "Catalogue, Café" → catalogue, café
///     .english                        the same, and "catalogues" is found by "catalogue"
///     .trigrams                       any three letters or more are found, also inside a word
///
/// Upper and lower case are the same to all of them.
public struct TextTokenizer: Hashable, Sendable {
    /// What SQLite's FTS5 is told.
    let specification: String
    /// Whether signs that are neither letters nor digits can be searched for.
    let takesSigns: Bool

    private init(_ specification: String, takesSigns: Bool = false) {
        self.specification = specification
        self.takesSigns = takesSigns
    }

    /// Letters and digits, with or without their accents.
    public static let words: TextTokenizer = .words(foldsAccents: true)

    /// Letters and digits.
    ///
    /// - Parameters:
    ///   - foldsAccents: Whether é is found by e, and the other way round.
    ///   - signs: Other signs that belong to words, such as `_` or `@`; blanks and quotes can't.
    /// - Returns: The tokenizer.
    public static func words(foldsAccents: Bool = true, signs: String = "") -> TextTokenizer {
        let others = signs.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        let more = others.isEmpty ? "" : " tokenchars '\(others)'"
        return TextTokenizer("unicode61 remove_diacritics \(foldsAccents ? 2 : 0)" + more, takesSigns: !others.isEmpty)
    }

    /// Words without their English endings, so that `connect` finds "connected" and "connections".
    public static let english = TextTokenizer("porter unicode61 remove_diacritics 2")

    /// All runs of three letters, so that a part of a word of three or more is found; takes several times the room.
    public static let trigrams = TextTokenizer("trigram", takesSigns: true)

    /// Whatever stands between blanks.
    public static let unbroken = TextTokenizer(
        "unicode61 remove_diacritics 2 categories 'L* M* N* P* S* Co'", takesSigns: true)

    /// Letters alone: digits part words as signs do.
    public static let letters = TextTokenizer("unicode61 remove_diacritics 2 categories 'L*'")

    /// Each text as one, which a search names as a whole in quotes; upper and lower case are the same, and so are accents.
    public static let whole = TextTokenizer(
        "unicode61 remove_diacritics 2 categories 'L* M* N* P* S* Z* C*'", takesSigns: true)

    /// Whether each text is one word, so that no two stand near each other.
    var isWhole: Bool { self == .whole }

    /// The tokenizer that comes nearest to one of the analyzers that CouchDB's text indexes name; `nil` for those of
    /// languages other than English, and for unknown ones.
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

    /// The names that ``init(analyzer:)`` knows.
    static let analyzers = ["classic", "email", "english", "keyword", "simple", "standard", "whitespace"]
}
