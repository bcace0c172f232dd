extension PatternTranslator {
    /// Reads what follows an opening parenthesis, up to the closing one; `nil` for a comment or a setting.
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

    /// The alternatives up to the closing parenthesis, where the flags are again what they were.
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

    /// Reads flags: `(?i)` for the rest of the group around, `(?i:…)` for a group of its own.
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
