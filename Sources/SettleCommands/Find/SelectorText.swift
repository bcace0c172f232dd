internal import Settle

/// Reads a selector where the command line has one: as JSON, or as a condition people write.
enum SelectorText {
    /// The selector of a text: itself, that of the file behind `@`, or of standard input for `-`.
    ///
    /// - Throws: ``CommandError``; whether the JSON is a selector is found out by who answers it.
    static func selector(_ given: String, _ console: Console) throws -> JSON {
        let text = String(decoding: try bytes(given, console), as: UTF8.self)
        guard let first = text.first(where: { !$0.isWhitespace }) else {
            throw CommandError.usage("the selector is empty; '{}' finds all documents", verb: "find")
        }
        guard first == "{" || first == "[" else { return try ConditionParser.selector(text) }
        do { return try JSON(parsing: text) } catch {
            throw CommandError.invalid("the selector is no JSON: \(error.description)")
        }
    }

    private static func bytes(_ given: String, _ console: Console) throws -> [UInt8] {
        if given.hasPrefix("@") { return try ByteInput.open(String(given.dropFirst())).readAll() }
        guard given == "-" else { return Array(given.utf8) }
        let input = ByteInput()
        if input.isTerminal { console.complain("Type the selector, then Ctrl-D.", json: [:]) }
        return try input.readAll()
    }
}
