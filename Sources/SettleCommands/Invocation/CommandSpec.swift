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
    /// The command's own options, with `--wait` if it opens a database.
    let options: [Option]
    /// At least one.
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

    /// The command's own options and those of every command.
    var allOptions: [Option] { options + Option.common + remoteOptions }

    /// The options for URLs, if it accepts one.
    var remoteOptions: [Option] { operands.contains(where: \.takesURL) ? RemoteOptions.options : [] }

    /// The command with its operands: `settle get DB ID [options]`.
    var usage: String {
        (["settle", name] + operands.map(\.usage) + ["[options]"]).joined(separator: " ")
    }
}
