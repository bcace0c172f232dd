/// Parses the words after a command's name according to its spec.
///
/// Options may appear anywhere: `--limit 5`, `--limit=5`, `-o FILE`. After `--` everything is an operand; a single `-` is
/// one too, and means standard input or output.
struct ArgumentParser {
    let spec: CommandSpec
    /// Says which other commands have an option that this one lacks.
    var elsewhere: (_ option: String) -> String? = { _ in nil }
    /// The database, where the words leave it out: on a line of a shell.
    var database: String?

    /// Parses the words.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which suggests the nearest option. A missing operand is not an error
    ///   here, so that `--help` works without any; ``Arguments/operand(_:)`` requires it.
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
