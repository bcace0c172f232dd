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

    /// The option as the help prints it: `-o, --output FILE`.
    var usage: String {
        (short.map { "\($0), " } ?? "") + name + (value.map { " \($0)" } ?? "") + (isRepeatable ? " …" : "")
    }

    /// Whether a word of the command line names it.
    func isNamed(_ word: String) -> Bool { name == word || short == word || aliases.contains(word) }

    /// The options of every command.
    static let common = [
        Option("--json", "write results and errors as JSON, for scripts"),
        Option("--quiet", short: "-q", "write only results and errors"),
        Option("--help", short: "-h", "show the help of the command"),
    ]

    /// The option of every command that opens a database.
    static let wait = Option(
        "--wait", value: "SECONDS", "seconds to wait for the database lock (default 1)")
}
