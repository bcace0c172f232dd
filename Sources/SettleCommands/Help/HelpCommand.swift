/// `settle help`: explains the tool, a command, or the exit codes.
enum HelpCommand: Command {
    static let spec = CommandSpec(
        "help", "explain the tool, a command, or the exit codes",
        operands: [Operand("TOPIC", isOptional: true, "a command, or exit-codes")],
        options: [
            Option("--markdown", "print the whole reference, docs/CLI.md"),
            Option("--man", "print the manual page"),
            Option("--completions", value: "SHELL", "print the completion script of bash, zsh, or fish"),
        ],
        examples: [
            CommandSpec.Example("settle help import", "explains a command"),
            CommandSpec.Example("settle help exit-codes", "lists the exit codes"),
            CommandSpec.Example(
                "settle help --completions bash > ~/.local/share/bash-completion/completions/settle",
                "lets bash complete commands and options"),
            CommandSpec.Example("settle help --man | man -l -", "shows the manual page"),
        ],
        json: "the same text")

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
        case "exit-codes": try console.print(HelpText.exitCodes(styled: console.styled))
        case .some(let name):
            try console.print(HelpText.verb(CommandList.verb(name).spec, width: width, styled: console.styled))
        }
        return .success
    }
}

/// The whole reference as Markdown, which is `docs/CLI.md`.
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

            ## Exit codes

            ```
            \(HelpText.exitCodes())
            ```

            \(verbs.joined(separator: "\n"))
            """
    }
}
