/// Translates a pattern of Perl's language over bytes, as PCRE2 reads it, into one of ICU over the characters of ``ByteText``.
///
///     (?i)^é\d{2}$    →    …(?:\A\ue0c3\ue0a9[0-9]{2}(?=\u000a?\z))
///
/// Classes become sets of bytes, and anchors become assertions, so that only groups, repetitions, assertions and
/// references are left to ICU. What is not known here is refused: no device finds other documents than the server.
struct PatternTranslator {
    /// The translation of a part of a pattern.
    struct Part {
        var text = ""
        /// How many bytes it matches; `nil` if that varies.
        var length: Int? = 0
        /// How many bytes it matches at most; `nil` if there is no limit.
        var longest: Int? = 0
        var canBeEmpty = true
        /// How many single items it has, with all repetitions.
        var size = 1
        /// Whether it may be followed by a quantifier.
        var isRepeatable = true

        mutating func append(_ other: Part) {
            text += other.text
            length = length.flatMap { own in other.length.map { own + $0 } }
            longest = longest.flatMap { own in other.longest.map { own + $0 } }
            canBeEmpty = canBeEmpty && other.canBeEmpty
            size += other.size
        }
    }

    struct Flags {
        var ignoresCase = false
        var hasLines = false
        var dotIsAll = false
    }

    let bytes: [UInt8]
    var place = 0
    var flags = Flags()
    var depth = 0
    /// The capturing groups that were opened; `nil` until they are closed.
    var groups: [Part?] = []
    /// Whether there is a construct whose work ICU does not count.
    var hidesWork = false

    private init(_ pattern: String) { bytes = Array(pattern.utf8) }

    /// Translates a pattern.
    ///
    /// ICU does not count its steps from one start to the next one, so the translation begins with `\A` and any bytes.
    ///
    /// - Returns: The pattern for ICU, and whether a step of its search may take as long as the text is.
    /// - Throws: `malformed`, or `unsupported` with the name of the construct.
    static func translate(_ pattern: String) throws(PatternRefusal) -> (text: String, hidesWork: Bool) {
        var translator = PatternTranslator(pattern)
        guard translator.bytes.count <= PatternRefusal.maximumLength else { throw .malformed }
        let branches = try translator.branches()
        guard translator.peek == nil else { throw .malformed }
        let whole = branches.map(\.text).joined(separator: "|")
        return (#"\A[\u0000-\uffff]*?(?:\#(whole))"#, translator.hidesWork)
    }

    var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// Skips a text if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let found = text.withUTF8Buffer { bytes[place...].starts(with: $0) }
        if found { place += text.utf8CodeUnitCount }
        return found
    }

    /// Reads alternatives up to the end of their group.
    mutating func branches() throws(PatternRefusal) -> [Part] {
        var branches = [try sequence()]
        while skip("|") { branches.append(try sequence()) }
        return branches
    }

    private mutating func sequence() throws(PatternRefusal) -> Part {
        var whole = Part()
        while let byte = peek, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
            guard let item = try item() else { continue }
            whole.append(try repeated(item))
            guard whole.size <= 50_000 else { throw .unsupported("patterns of that size") }
        }
        return whole
    }

    /// Reads one item without its quantifier; `nil` for a comment or a setting.
    private mutating func item() throws(PatternRefusal) -> Part? {
        guard let byte = peek else { throw .malformed }
        place += 1
        switch byte {
        case UInt8(ascii: "("): return try group()
        case UInt8(ascii: "["): return part(try characterClass())
        case UInt8(ascii: "\\"): return try escape()
        case UInt8(ascii: "."): return part(flags.dotIsAll ? .all : ByteSet(10...10).inverted)
        case UInt8(ascii: "^"): return assertion(flags.hasLines ? #"(?:\A|(?<=\u000a)(?!\z))"# : #"\A"#)
        case UInt8(ascii: "$"): return assertion(flags.hasLines ? #"(?=\u000a|\z)"# : #"(?=\u000a?\z)"#)
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): throw .malformed
        case UInt8(ascii: "{"):
            place -= 1
            if try braces() != nil { throw .malformed }
            place += 1
            return part(ByteSet(byte...byte))
        default: return part(flags.ignoresCase ? ByteSet(byte...byte).ignoringCase : ByteSet(byte...byte))
        }
    }

    func part(_ set: ByteSet) -> Part { Part(text: set.pattern, length: 1, longest: 1, canBeEmpty: false) }

    func assertion(_ text: String) -> Part { Part(text: text, isRepeatable: false) }
}
