/// All there is to say about a verb: its parser works by it, and its help and the reference are written from it.
struct CommandSpec: Sendable {
    /// A command line and what it does.
    struct Example: Sendable {
        let command: String
        let effect: String

        init(_ command: String, _ effect: String) {
            self.command = command
            self.effect = effect
        }
    }

    /// The verb.
    let name: String
    /// What it does, in one line.
    let summary: String
    /// More about it, in paragraphs.
    let discussion: String
    /// The operands in order.
    let operands: [Operand]
    /// The verb's own options, and `--wait` where it opens a database.
    let options: [Option]
    /// At least one.
    let examples: [Example]
    /// What `--json` writes.
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

    /// The verb's own options and those every verb has.
    var allOptions: [Option] { options + Option.common + remoteOptions }

    /// The options for URLs, where it takes one.
    var remoteOptions: [Option] { operands.contains(where: \.takesURL) ? RemoteOptions.options : [] }

    /// The verb with its operands: `settle get DB ID [options]`.
    var usage: String {
        (["settle", name] + operands.map(\.usage) + ["[options]"]).joined(separator: " ")
    }
}
