internal import Settle

extension Arguments {
    /// The paths of an option, separated by commas, or a JSON array if a path contains commas.
    func paths(_ option: String) throws -> [JSONValue]? {
        guard let text = text(option) else { return nil }
        return try jsonArray(option, text) ?? parts(option, text).map { .string($0) }
    }

    /// The paths of `--fields` for a table of `--csv`; `nil` for columns that the documents determine.
    func columns() throws -> [String]? {
        guard let paths = try paths("--fields") else { return nil }
        if !flag("--csv") { throw CommandError.usage("--fields is for --csv", verb: verb) }
        return paths.compactMap(\.string)
    }

    /// The parts of a list that is separated by commas.
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
