/// Translates a pattern of Perl's language over bytes, as PCRE2 reads it, into one of ICU over the characters of ``ByteText``.
///
///     (?i)^é\d{2}$    →    …(?:\A\ue0c3\ue0a9[0-9]{2}(?=\u000a?\z))
///
/// Classes become sets of bytes, and anchors become assertions, so that only groups, repetitions, assertions and
/// references are left to ICU. Unknown constructs are refused, so no device finds other documents than the server.
struct PatternTranslator {
    /// The translation of a part of a pattern.
    struct Part {
        var text = ""
        /// The number of bytes that it matches; `nil` if that varies.
        var length: Int? = 0
        /// The maximum number of bytes that it matches; `nil` if there is no limit.
        var longest: Int? = 0
        var canBeEmpty = true
        /// The number of single items in it, including all repetitions.
        var size = 1
        /// Whether a quantifier may follow it.
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
    /// The capturing groups that were opened; each is `nil` until it is closed.
    var groups: [Part?] = []
    /// Whether it contains a construct whose work ICU does not count.
    var hidesWork = false
    /// The letters of the escapes outside of classes.
    var escapes: Set<UInt8> = []

    private init(_ pattern: String) { bytes = Array(pattern.utf8) }

    /// Translates a pattern.
    ///
    /// ICU does not count its steps from one start position to the next, so the translation begins with `\A` and
    /// any bytes.
    ///
    /// - Returns: The pattern for ICU, and whether one step of its search may take time proportional to the text.
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

    /// Parses alternatives up to the end of their group.
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

    /// Parses one item without its quantifier; `nil` for a comment or a setting.
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

// MARK: - Groups

extension PatternTranslator {
    /// Parses a group after its opening parenthesis, through the closing one; `nil` for a comment or a setting.
    mutating func group() throws(PatternRefusal) -> Part? {
        if peek == UInt8(ascii: "*") { throw .unsupported("verbs, as (*F)") }
        guard skip("?") else { return try captured() }
        if skip(":") { return try grouped("(?:") }
        if skip(">") {
            hidesWork = true
            return try grouped("(?>")
        }
        if skip("=") { return try lookedAt("(?=") }
        if skip("!") { return try lookedAt("(?!") }
        if skip("<=") { return try lookedAt("(?<=", isBehind: true) }
        if skip("<!") { return try lookedAt("(?<!", isBehind: true) }
        if skip("#") {
            guard let end = bytes[place...].firstIndex(of: UInt8(ascii: ")")) else { throw .malformed }
            place = end + 1
            return nil
        }
        return try setting()
    }

    private mutating func captured() throws(PatternRefusal) -> Part {
        let number = groups.count
        groups.append(nil)
        let part = try grouped("(")
        groups[number] = part
        return part
    }

    private mutating func grouped(_ opening: String) throws(PatternRefusal) -> Part {
        let branches = try closed()
        var part = Part(text: opening + branches.map(\.text).joined(separator: "|") + ")")
        let lengths = Set(branches.map(\.length))
        part.length = lengths.count == 1 ? branches[0].length : nil
        let longest = branches.compactMap(\.longest)
        part.longest = longest.count == branches.count ? longest.max() : nil
        part.canBeEmpty = branches.contains(where: \.canBeEmpty)
        part.size = branches.reduce(1) { $0 + $1.size }
        return part
    }

    private mutating func lookedAt(_ opening: String, isBehind: Bool = false) throws(PatternRefusal) -> Part {
        hidesWork = true
        let branches = try closed()
        if isBehind, !branches.allSatisfy({ $0.length.map { $0 <= 1000 } ?? false }) {
            throw .unsupported("a look-behind without a fixed length")
        }
        return assertion(opening + branches.map(\.text).joined(separator: "|") + ")")
    }

    /// Parses the alternatives through the closing parenthesis, and restores the flags.
    private mutating func closed() throws(PatternRefusal) -> [Part] {
        let outer = flags
        depth += 1
        guard depth <= 200 else { throw .unsupported("groups nested deeper than 200") }
        let branches = try branches()
        guard skip(")") else { throw .malformed }
        depth -= 1
        flags = outer
        return branches
    }

    /// Parses flags: `(?i)` for the rest of the surrounding group, `(?i:…)` for a separate group.
    private mutating func setting() throws(PatternRefusal) -> Part? {
        let outer = flags
        var isOn = true
        let start = place
        while let byte = peek {
            place += 1
            switch byte {
            case UInt8(ascii: "i"): flags.ignoresCase = isOn
            case UInt8(ascii: "m"): flags.hasLines = isOn
            case UInt8(ascii: "s"): flags.dotIsAll = isOn
            case UInt8(ascii: "-") where isOn: isOn = false
            case UInt8(ascii: ")") where place - start > 1: return nil
            case UInt8(ascii: ":") where place - start > 1:
                let part = try grouped("(?:")
                flags = outer
                return part
            default: throw .unsupported("groups that begin with (?" + String(UnicodeScalar(bytes[start])))
            }
        }
        throw .malformed
    }
}

// MARK: - Repetition

extension PatternTranslator {
    /// The number of times that an item is repeated; without `most` there is no limit.
    struct Bounds {
        var least: Int
        var most: Int?
    }

    /// An item with the quantifier that follows it, if there is one.
    mutating func repeated(_ item: Part) throws(PatternRefusal) -> Part {
        let start = place
        guard let bounds = try quantifier() else { return item }
        guard item.isRepeatable else { throw .unsupported("repetitions of an assertion") }
        guard bounds.most != 0 else { throw .unsupported("repetitions of zero times") }
        guard max(bounds.least, bounds.most ?? 0) <= 1000 else { throw .unsupported("more than 1,000 repetitions") }
        let (isLazy, isPossessive) = (skip("?"), skip("+"))
        guard !(isLazy && isPossessive) else { throw .unsupported("a quantifier after a quantifier") }
        hidesWork = hidesWork || isPossessive
        if item.canBeEmpty, bounds.most.map({ $0 > 1 }) ?? true {
            throw .unsupported("repetitions of what may be empty")
        }
        var whole = item
        whole.text += String(decoding: bytes[start..<place], as: UTF8.self)
        whole.length = bounds.most == bounds.least ? item.length.map { $0 * bounds.least } : nil
        whole.longest = bounds.most.flatMap { most in item.longest.map { $0 * most } }
        whole.canBeEmpty = item.canBeEmpty || bounds.least == 0
        whole.size = item.size * max(bounds.least, bounds.most ?? 1, 1)
        if try quantifier() != nil { throw .unsupported("a quantifier after a quantifier") }
        return whole
    }

    private mutating func quantifier() throws(PatternRefusal) -> Bounds? {
        if skip("*") { return Bounds(least: 0) }
        if skip("+") { return Bounds(least: 1) }
        if skip("?") { return Bounds(least: 0, most: 1) }
        return try braces()
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; anything else in braces is text.
    mutating func braces() throws(PatternRefusal) -> Bounds? {
        let start = place
        guard skip("{") else { return nil }
        let least = try number()
        let hasComma = skip(",")
        let most = hasComma ? try number() : least
        guard skip("}"), least != nil || most != nil else {
            place = start
            return nil
        }
        guard let least else { throw .unsupported("repetitions without a lower bound, as {,3}") }
        guard least <= most ?? .max else { throw .malformed }
        return Bounds(least: least, most: most)
    }

    private mutating func number() throws(PatternRefusal) -> Int? {
        var number: Int?
        while let byte = peek, 48...57 ~= byte {
            number = (number ?? 0) * 10 + Int(byte - 48)
            guard number ?? 0 <= 65_535 else { throw .malformed }
            place += 1
        }
        return number
    }
}
