internal import CSettleBuild
internal import Settle
internal import SettleDatabase
internal import SettleHTTP
import SettleReplication

/// `settle help`: explains the tool, a command, the policies, or the exit codes.
enum HelpCommand: Command {
    static let spec = CommandSpec(
        "help", "explain the tool, a command, the policies, or the exit codes",
        operands: [Operand("TOPIC", isOptional: true, "a command, policies, or exit-codes")],
        options: [
            Option("--markdown", "print the whole reference, docs/CLI.md"),
            Option("--man", "print the manual page"),
            Option("--completions", value: "SHELL", "print the completion script of bash, zsh, or fish"),
        ],
        examples: [
            CommandSpec.Example("settle help import", "explains a command"),
            CommandSpec.Example("settle help policies", "lists the policies for conflicts, and the rules for clashes"),
            CommandSpec.Example("settle help exit-codes", "lists the exit codes"),
            CommandSpec.Example(
                "settle help --completions bash > ~/.local/share/bash-completion/completions/settle",
                "lets bash complete commands, options, and values such as ids"),
            CommandSpec.Example("settle help --man | man -l -", "shows the manual page"),
        ],
        json: "the same text")

    /// The topics that it explains in addition to commands.
    static let topics = ["policies", "exit-codes"]

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        if invocation.arguments.isGiven("--completions") {
            try console.output.write(invocation.arguments.choice("--completions", CompletionScript.bash).text)
            return .success
        }
        if invocation.arguments.flag("--man") {
            try console.output.write(ManualPage.text)
            return .success
        }
        if invocation.arguments.flag("--markdown") {
            try console.output.write(Reference.markdown)
            return .success
        }
        let width = console.terminal.isTerminal ? min(console.terminal.width, 100) : 100
        switch invocation.arguments.optionalOperand("TOPIC") {
        case nil: try console.print(HelpText.overview(styled: console.styled))
        case "policies": try console.print(HelpText.policies(width: width, styled: console.styled))
        case "exit-codes": try console.print(HelpText.exitCodes(styled: console.styled))
        case .some(let name):
            try console.print(HelpText.verb(CommandList.verb(name).spec, width: width, styled: console.styled))
        }
        return .success
    }
}

/// The whole reference as Markdown: `docs/CLI.md`.
enum Reference {
    static var markdown: String {
        let contents = CommandList.groups.map { group in
            let lines = group.verbs.map { "- [`\($0.spec.name)`](#\($0.spec.name)): \($0.spec.summary)" }
            return "**\(group.title)**\n\n\(lines.joined(separator: "\n"))"
        }
        let verbs = CommandList.specs.map { spec in
            "## \(spec.name)\n\n```\n\(HelpText.verb(spec))\n```\n"
        }
        return """
            # The command line

            `settle help --markdown` generates this text, which a test compares with `settle help`.

            \(contents.joined(separator: "\n\n"))

            ## Common behavior

            - Results go to standard output; errors, failures of single documents and progress go to standard error.
            - Text output is for people and may change. `--json` is for scripts: its members are stable, and more may be added.
            - Progress bars and colours are for terminals only; `NO_COLOR` disables the colours.
            - A database may also be given as a URL, at Settle's own server, CouchDB or PouchDB Server: \
            `settle docs https://anna@couch.example/groceries`. The output is the same.
            - Authentication: a password is read from the URL, `--password-file`, `SETTLE_PASSWORD` or `~/.netrc`, or else \
            prompted for. It is never printed. `SETTLE_TOKEN` is a bearer token. `http_proxy`, `https_proxy` and `no_proxy` \
            are respected.
            - A database on this machine belongs to one process at a time. Commands wait one second for the database lock, or \
            `--wait SECONDS`.
            - Options may appear anywhere; after `--` nothing is an option, so that an id may begin with a dash.

            ## Policies

            ```
            \(HelpText.policies())
            ```

            ## Exit codes

            ```
            \(HelpText.exitCodes())
            ```

            \(verbs.joined(separator: "\n"))
            """
    }
}

// MARK: - HelpText

/// Formats help from the specs of the commands.
enum HelpText {
    /// The text of `settle` without arguments.
    static func overview(styled: Styled = { text, _ in text }) -> String {
        let lines = Columns.aligned(CommandList.specs.map { ($0.name, $0.summary) }, indent: 2)
        var rest = lines[...]
        let groups = CommandList.groups.map { group in
            let own = rest.prefix(group.verbs.count)
            rest = rest.dropFirst(group.verbs.count)
            return "\(styled(group.title, .bold))\n\(own.joined(separator: "\n"))"
        }
        return """
            settle: a JSON document database that syncs

            \(styled("Usage", .bold)): settle COMMAND DB … [options]

            \(groups.joined(separator: "\n\n"))

            \(styled("New here?", .bold))
              settle create groceries
              settle put groceries milk '{"name": "Milk", "count": 1}'
              settle get groceries milk

            `settle help COMMAND` explains a command with examples, `settle help policies` lists the policies for conflicts,
            `settle help exit-codes` the exit codes. The simulator is a separate program: `settle-simulate --help`.
            """
    }

    /// The help of a command.
    static func verb(_ spec: CommandSpec, width: Int = 100, styled: Styled = { text, _ in text }) -> String {
        var parts = ["settle \(spec.name): \(spec.summary)", "\(styled("Usage", .bold)): \(spec.usage)"]
        if !spec.discussion.isEmpty {
            parts.append(Columns.wrapped(spec.discussion, width: width).joined(separator: "\n"))
        }
        func list(_ title: String, _ rows: [(String, String)]) {
            if rows.isEmpty { return }
            parts.append(([styled(title, .bold)] + Columns.aligned(rows, indent: 2)).joined(separator: "\n"))
        }
        list("Arguments", spec.operands.map { ($0.name, $0.help) })
        list("Options", (spec.options + Option.common).map { ($0.usage, $0.help) })
        list("Options for a URL", spec.remoteOptions.map { ($0.usage, $0.help) })
        let examples = spec.examples.map { "  \($0.command)\n      \(styled($0.effect, .faint))" }
        parts.append(([styled("Examples", .bold)] + examples).joined(separator: "\n"))
        let json = Columns.wrapped(spec.json, width: width, indent: 2)
        parts.append(([styled("With --json", .bold)] + json).joined(separator: "\n"))
        return parts.joined(separator: "\n\n")
    }

    /// The policies for conflicts and the rules for clashes, each with a sentence.
    static func policies(width: Int = 100, styled: Styled = { text, _ in text }) -> String {
        func list(_ title: String, _ rows: [(name: String, summary: String)]) -> [String] {
            [styled(title, .bold)]
                + rows.flatMap { ["  \($0.name)"] + Columns.wrapped($0.summary, width: width, indent: 6) }
        }
        let policies = list("Policies for conflicts (--policy)", ReadyPolicy.all.map { ($0.name, $0.summary) })
        let rules = list("Rules for clashes (--merge-rule, --on-clash)", ReadyRule.all.map { ($0.name, $0.summary) })
        return (policies + [""] + rules).joined(separator: "\n")
    }

    /// The list of exit codes.
    static func exitCodes(styled: Styled = { text, _ in text }) -> String {
        let rows = ExitStatus.allCases.map { (String($0.rawValue), $0.meaning) }
        return """
            \(styled("Exit codes", .bold))
            \(Columns.aligned(rows, indent: 2).joined(separator: "\n"))

            Errors go to standard error, with --json as {"error":code,"message":text}.
            """
    }
}

// MARK: - ManualPage

/// The manual page `settle(1)`, from the specs of the commands.
enum ManualPage {
    /// The page in the format of `man`.
    static var text: String {
        var lines = [
            ".TH SETTLE 1 \"\" \"settle \(VersionCommand.number)\" \"User Commands\"",
            ".SH NAME", "settle \\- a JSON document database that syncs",
            ".SH SYNOPSIS", ".B settle", "COMMAND DB … [options]",
            ".SH DESCRIPTION",
            escaped("DB is the folder of a database, of which `.settle` is optional, or its URL at a server."),
        ]
        for group in CommandList.groups {
            lines.append(".SH \(group.title.uppercased())")
            for verb in group.verbs { lines += section(verb.spec) }
        }
        lines.append(".SH EXIT STATUS")
        for status in ExitStatus.allCases { lines += item(String(status.rawValue), status.meaning) }
        lines.append(".SH ENVIRONMENT")
        for (name, text) in [
            ("SETTLE_PASSWORD", "the password at a server"), ("SETTLE_TOKEN", "a bearer token for a server"),
            ("NO_COLOR", "switches colors off"),
        ] { lines += item(name, text) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ spec: CommandSpec) -> [String] {
        var lines = [".SS \(spec.name)", escaped(spec.summary) + ".", ".PP", ".B \(escaped(spec.usage))"]
        for paragraph in spec.discussion.split(separator: "\n") { lines += [".PP", escaped(String(paragraph))] }
        for operand in spec.operands { lines += item(operand.name, operand.help) }
        for option in spec.allOptions { lines += item(option.usage, option.help) }
        lines += [".PP", "Examples:"]
        for example in spec.examples { lines += item(example.command, example.effect) }
        return lines + [".PP", "With \\-\\-json: " + escaped(spec.json.replacing("\n", with: " "))]
    }

    private static func item(_ title: String, _ text: String) -> [String] {
        [".TP", ".B \(escaped(title))", escaped(text)]
    }

    /// Text without commands and escapes of the format. A dash stays a dash, so that it can be copied.
    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&\(plain)" : plain
    }
}

// MARK: - VersionCommand

/// `settle version`: prints the version.
enum VersionCommand: Command {
    static let spec = CommandSpec(
        "version", "print the version, and the commit it was built from",
        discussion: "The commit is that of the checkout in which `make` built the tool; other builds don't know it.",
        examples: [
            CommandSpec.Example("settle --version", "the same"),
            CommandSpec.Example("settle version --json", "for scripts"),
        ], json: #"{"version":…,"commit":…}; no "commit" where it is not known"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.console.print(line(commit: commit), json: json(commit: commit))
        return .success
    }

    /// The version.
    static var number: String { ProductVersion.current }

    /// The commit that the tool was built from, with `-dirty` if files were changed; `nil` if the build did not
    /// record it.
    private static var commit: String? { settle_build_commit().map { String(cString: $0) } }

    /// The version as text.
    static func line(commit: String?) -> String {
        "settle \(number)" + (commit.map { " (\($0))" } ?? "")
    }

    /// The version as JSON.
    static func json(commit: String?) -> JSONValue {
        var json: JSONValue = ["version": .string(number)]
        json["commit"] = commit.map { .string($0) }
        return json
    }
}
