extension PatternTranslator {
    /// How many times an item is repeated; no `most` means any number.
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
