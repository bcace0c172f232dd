/// A positional argument of a command, such as `DB`.
struct Operand: Sendable {
    /// Its placeholder in the help.
    let name: String
    /// Its description, in one line.
    let help: String
    /// Whether it is optional.
    let isOptional: Bool
    /// Whether it takes all remaining words.
    let isRepeatable: Bool
    /// Whether it may be the URL of a database at a server.
    let takesURL: Bool

    init(
        _ name: String, isOptional: Bool = false, isRepeatable: Bool = false, takesURL: Bool = false, _ help: String
    ) {
        self.name = name
        self.takesURL = takesURL
        self.isOptional = isOptional
        self.isRepeatable = isRepeatable
        self.help = help
    }

    /// The operand as the help prints it.
    var usage: String { (isOptional ? "[\(name)]" : name) + (isRepeatable ? " …" : "") }

    /// The database, the first operand of nearly every command.
    static let database = Operand(
        "DB", takesURL: true, "database path (`.settle` is optional) or URL")
    /// The database of a command that works on files.
    static let folder = Operand("DB", "database path (`.settle` is optional)")
    static let document = Operand("ID", "the id of a document")
}
