internal import Settle

/// The parsed arguments of a command, by the names in its spec.
struct Arguments: Sendable {
    let verb: String
    private var operands: [String: [String]] = [:]
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []

    init(verb: String) { self.verb = verb }

    mutating func set(_ operand: Operand, _ text: String) { operands[operand.name, default: []].append(text) }

    /// Sets a flag; returns whether it was new.
    mutating func set(_ option: Option) -> Bool { flags.insert(option.name).inserted }

    /// Sets the value of an option; returns whether it was new or may be repeated.
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

    /// The value of an option that accepts one of a few words, or the given default.
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
    /// The action of a command with several actions, which its first operand names.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which suggests the nearest one.
    func action<Action: RawRepresentable & CaseIterable>(_ actions: Action.Type) throws -> Action
    where Action.RawValue == String {
        let given = try operand("ACTION")
        if let action = Action(rawValue: given) { return action }
        if Invocation.isURL(given) {
            throw CommandError.usage("ACTION is missing; did you mean `settle \(verb) list URL`?", verb: verb)
        }
        let advice =
            Suggestion.question(for: given, among: Action.allCases.map(\.rawValue))
            ?? "did you mean `settle \(verb) list \(given)`?"
        throw CommandError.usage("there is no action \"\(given)\"; \(advice)", verb: verb)
    }
}

// MARK: - Paths

extension Arguments {
    /// The paths in an option, separated by commas, or as a JSON array if a path contains commas.
    func paths(_ option: String) throws -> [JSONValue]? {
        guard let text = text(option) else { return nil }
        return try jsonArray(option, text) ?? parts(option, text).map { .string($0) }
    }

    /// The paths in `--fields` for a table of `--csv`; `nil` if the documents determine the columns.
    func columns() throws -> [String]? {
        guard let paths = try paths("--fields") else { return nil }
        if !flag("--csv"), text("--as") != ExportForm.csv.rawValue {
            throw CommandError.usage("--fields is for --csv", verb: verb)
        }
        return paths.compactMap(\.string)
    }

    /// The parts of a list separated by commas.
    func parts(_ option: String, _ text: String) throws -> [String] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        guard !parts.contains("") && !parts.contains("-") else {
            throw CommandError.usage("\(option) takes paths separated by commas: age,address.city", verb: verb)
        }
        return parts
    }

    /// The elements of a value that begins like a JSON array; `nil` for any other value.
    func jsonArray(_ option: String, _ text: String) throws -> [JSONValue]? {
        guard text.first(where: { !$0.isWhitespace }) == "[" else { return nil }
        if let list = (try? JSONValue(parsing: text))?.array { return list }
        throw CommandError.usage("the value of \(option) begins like JSON, but is not a JSON array", verb: verb)
    }
}

extension Option {
    /// The options of commands that can print a table.
    static let csv = Option("--csv", "print a table as CSV, with a header row")
    /// The columns of that table.
    static let csvFields = Option(
        "--fields", value: "PATHS", "the columns of --csv, separated by commas: name,address.city")
}

// MARK: - ArgumentParser

/// Parses the words after a command's name according to its spec.
///
/// Options may appear anywhere: `--limit 5`, `--limit=5`, `-o FILE`. After `--` everything is an operand. A single
/// `-` is an operand, too, and means standard input or output.
struct ArgumentParser {
    let spec: CommandSpec
    /// Returns a sentence about other commands that have an option which this command lacks.
    var elsewhere: (_ option: String) -> String? = { _ in nil }
    /// The database, if the words don't contain it: on a line of a shell.
    var database: String?

    /// Parses the words.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which suggests the nearest option. A missing operand is not
    ///   an error here, so that `--help` works without operands; ``Arguments/operand(_:)`` requires it.
    func parse(_ words: some Sequence<String>) throws -> Arguments {
        var arguments = Arguments(verb: spec.name)
        var operands = spec.operands[...]
        if let database, let operand = operands.first(where: { $0.name == "DB" }) {
            arguments.set(operand, database)
            operands.removeAll { $0.name == "DB" }
        }
        var takesOptions = true
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word.hasPrefix("-"), word != "-" {
                try parse(option: word, &rest, into: &arguments)
            } else if let operand = operands.first {
                arguments.set(operand, word)
                if !operand.isRepeatable { operands.removeFirst() }
            } else {
                throw failure("\"\(word)\" is an unexpected argument")
            }
        }
        return arguments
    }

    private func parse(
        option word: String, _ rest: inout ArraySlice<String>, into arguments: inout Arguments
    ) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let isLong = word.hasPrefix("--")
        let name = isLong ? parts[0] : word
        guard let option = spec.allOptions.first(where: { $0.isNamed(name) }) else {
            throw unknown(name)
        }
        let attached = isLong && parts.count == 2 ? parts[1] : nil
        let isNew: Bool
        if option.value != nil {
            guard let value = attached ?? rest.popFirst() else {
                throw failure("\(option.name) needs a value: \(option.usage)")
            }
            isNew = arguments.set(option, value)
        } else {
            guard attached == nil else { throw failure("\(option.name) takes no value") }
            isNew = arguments.set(option)
        }
        if !isNew { throw failure("\(option.name) was given twice") }
    }

    private func unknown(_ name: String) -> CommandError {
        let advice =
            Suggestion.question(for: name, among: spec.allOptions.map(\.name)) ?? elsewhere(name)
        return failure("there is no option \(name)" + (advice.map { "; \($0)" } ?? ""))
    }

    private func failure(_ message: String) -> CommandError { .usage(message, verb: spec.name) }
}
