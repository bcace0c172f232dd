/// The description of a command, for its parser, its help and the reference.
struct CommandSpec: Sendable {
    /// A command line and its effect.
    struct Example: Sendable {
        let command: String
        let effect: String

        init(_ command: String, _ effect: String) {
            self.command = command
            self.effect = effect
        }
    }

    /// The command's name.
    let name: String
    /// Its summary, in one line.
    let summary: String
    /// Its description, in paragraphs.
    let discussion: String
    /// The operands in order.
    let operands: [Operand]
    /// The command's own options, and `--wait` if it opens a database.
    let options: [Option]
    /// Examples, at least one.
    let examples: [Example]
    /// The output with `--json`.
    let json: String

    init(
        _ name: String, _ summary: String, discussion: String = "", operands: [Operand] = [], options: [Option] = [],
        examples: [Example], json: String
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.operands = operands
        self.options = operands.contains { $0.name == "DB" } ? options + [.wait] : options
        self.examples = examples
        self.json = json
    }

    /// The command's own options and the common ones.
    var allOptions: [Option] { options + Option.common + remoteOptions }

    /// The options for URLs, if it accepts one.
    var remoteOptions: [Option] { operands.contains(where: \.takesURL) ? RemoteOptions.options : [] }

    /// The command with its operands: `settle get DB ID [options]`.
    var usage: String {
        (["settle", name] + operands.map(\.usage) + ["[options]"]).joined(separator: " ")
    }
}

// MARK: - Command

/// A command of the tool.
protocol Command: Sendable {
    /// The description of the command, by which its arguments are parsed.
    static var spec: CommandSpec { get }

    /// Runs the command.
    static func run(_ invocation: Invocation) throws -> ExitStatus
}

// MARK: - Operand

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
    /// All that it may be, if it is one of a few words.
    let words: [String]

    init(
        _ name: String, isOptional: Bool = false, isRepeatable: Bool = false, takesURL: Bool = false,
        words: [String] = [], _ help: String
    ) {
        self.name = name
        self.words = words
        self.takesURL = takesURL
        self.isOptional = isOptional
        self.isRepeatable = isRepeatable
        self.help = help
    }

    /// The operand in the form that the help prints.
    var usage: String { (isOptional ? "[\(name)]" : name) + (isRepeatable ? " …" : "") }

    /// The database, the first operand of nearly every command.
    static let database = Operand(
        "DB", takesURL: true, "database path (`.settle` is optional) or URL")
    /// The database of a command that works on files.
    static let folder = Operand("DB", "database path (`.settle` is optional)")
    static let document = Operand("ID", "the id of a document")

    /// The action of a command with several actions; ``Arguments/action(_:)`` reads it.
    static func action<Action: RawRepresentable & CaseIterable>(_ actions: Action.Type) -> Operand
    where Action.RawValue == String {
        let words = Action.allCases.map(\.rawValue)
        return Operand("ACTION", words: words, words.dropLast().joined(separator: ", ") + ", or " + (words.last ?? ""))
    }
}

// MARK: - Option

/// An option of a command, such as `--limit N`, for its help and its parser.
struct Option: Sendable {
    /// The name with its dashes: `--limit`.
    let name: String
    /// The one-letter name with its dash, if any: `-o`.
    let short: String?
    /// The placeholder of the value in the help: `N`; `nil` for a flag.
    let value: String?
    /// Its description, in one line.
    let help: String
    /// Whether it may be given more than once.
    let isRepeatable: Bool
    /// Other spellings, which the help omits.
    let aliases: [String]

    init(
        _ name: String, short: String? = nil, value: String? = nil, isRepeatable: Bool = false, aliases: [String] = [],
        _ help: String
    ) {
        self.name = name
        self.aliases = aliases
        self.short = short
        self.value = value
        self.isRepeatable = isRepeatable
        self.help = help
    }

    /// The option in the form that the help prints: `-o, --output FILE`.
    var usage: String {
        (short.map { "\($0), " } ?? "") + name + (value.map { " \($0)" } ?? "") + (isRepeatable ? " …" : "")
    }

    /// Whether a word of the command line is a name of this option.
    func isNamed(_ word: String) -> Bool { name == word || short == word || aliases.contains(word) }

    /// The options of every command.
    static let common = [
        Option("--json", "write results and errors as JSON, for scripts"),
        Option("--quiet", short: "-q", "write only results and errors"),
        Option("--help", short: "-h", "show the help of the command"),
    ]

    /// The option of all commands that open a database.
    static let wait = Option(
        "--wait", value: "SECONDS", "seconds to wait for the database lock (default 1)")
}
