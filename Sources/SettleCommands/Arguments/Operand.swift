/// An argument of a verb that is known by its place, such as `DB`.
struct Operand: Sendable {
    /// What stands for it in the help.
    let name: String
    /// What it is, in one line.
    let help: String
    /// Whether it may be left out.
    let isOptional: Bool
    /// Whether all words from here on belong to it.
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

    /// The operand as the help writes it.
    var usage: String { (isOptional ? "[\(name)]" : name) + (isRepeatable ? " …" : "") }

    /// The database, which nearly every verb begins with.
    static let database = Operand(
        "DB", takesURL: true, "database path (`.settle` is optional) or URL")
    /// The database of a verb that works on files.
    static let folder = Operand("DB", "the folder of a database; `.settle` at its end may be left out")
    /// A document's id.
    static let document = Operand("ID", "the id of a document")
}
