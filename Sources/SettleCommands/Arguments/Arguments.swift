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
            Suggestion.question(for: given, among: Action.allCases.map(\.rawValue))
            ?? "did you mean `settle \(verb) list \(given)`?"
        throw CommandError.usage("there is no action \"\(given)\"; \(advice)", verb: verb)
    }
}
