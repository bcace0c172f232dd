/// The parsed arguments of a command, by the names in its spec.
struct Arguments: Sendable {
    let verb: String
    private var operands: [String: [String]] = [:]
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []

    init(verb: String) { self.verb = verb }

    mutating func set(_ operand: Operand, _ text: String) { operands[operand.name, default: []].append(text) }

    /// Returns whether it was new.
    mutating func set(_ option: Option) -> Bool { flags.insert(option.name).inserted }

    /// Returns whether it was new, or may be repeated.
    mutating func set(_ option: Option, _ value: String) -> Bool {
        let isNew = values[option.name] == nil
        values[option.name, default: []].append(value)
        return isNew || option.isRepeatable
    }

    /// A required operand.
    func operand(_ name: String) throws -> String {
        if let text = operands[name]?.first { return text }
        throw CommandError.usage("\(name) is missing", verb: verb)
    }

    /// An optional operand.
    func optionalOperand(_ name: String) -> String? { operands[name]?.first }

    /// The words of a repeatable operand.
    func operands(_ name: String) -> [String] { operands[name] ?? [] }

    /// Whether a flag was given.
    func flag(_ name: String) -> Bool { flags.contains(name) }

    /// The value of an option.
    func text(_ name: String) -> String? { values[name]?.last }

    /// The values of a repeatable option.
    func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that is a count.
    func count(_ name: String, atLeast least: Int = 0) throws -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), number >= least else {
            throw CommandError.usage("\(name) must be an integer of at least \(least), not \"\(text)\"", verb: verb)
        }
        return number
    }

    /// The value of an option that is one of a few words; by default the first one.
    func choice<Word: RawRepresentable & CaseIterable>(_ name: String, _ unlessGiven: Word) throws -> Word
    where Word.RawValue == String {
        guard let text = text(name) else { return unlessGiven }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandError.usage("\(name) takes one of \(words), not \"\(text)\"", verb: verb)
    }

    /// Whether an option was given, with a value or without.
    func isGiven(_ name: String) -> Bool { flags.contains(name) || values[name] != nil }

    /// Refuses two options that exclude each other.
    func refuse(_ first: String, with second: String) throws {
        guard isGiven(first), isGiven(second) else { return }
        throw CommandError.usage("\(first) and \(second) exclude each other", verb: verb)
    }
}

extension Arguments {
    /// The action of a command with several, which its first operand names.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which suggests the nearest one.
    func action<Action: RawRepresentable & CaseIterable>(_ actions: Action.Type) throws -> Action
    where Action.RawValue == String {
        let given = try operand("ACTION")
        if let action = Action(rawValue: given) { return action }
        let advice =
            NearestWord.find(given, in: Action.allCases.map(\.rawValue)).map { "did you mean \($0)?" }
            ?? "did you mean `settle \(verb) list \(given)`?"
        throw CommandError.usage("there is no action \"\(given)\"; \(advice)", verb: verb)
    }
}

/// Suggests a similar word.
enum NearestWord {
    /// The word with the smallest edit distance, or `nil` if none is near.
    static func find(_ word: String, in words: [String]) -> String? {
        let ranked = words.map { (word: $0, distance: distance(word, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        let isPrefix = word.count >= 2 && best.word.hasPrefix(word)
        if isPrefix || best.distance <= max(1, word.count / 3) { return best.word }
        return words.first { word.count >= 2 && $0.hasPrefix(word) }
    }

    /// The edit distance: letters inserted, deleted, replaced, or swapped with their neighbour.
    static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var older = [Int](repeating: 0, count: b.count + 1)
        var old = Array(0...b.count)
        for i in a.indices {
            var new = [i + 1]
            for j in b.indices {
                var least = min(new[j] + 1, old[j + 1] + 1, old[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, older[j - 1] + 1) }
                new.append(least)
            }
            (older, old) = (old, new)
        }
        return old[b.count]
    }
}
