/// `settle help`: explains the tool, a command, or the exit codes.
enum HelpCommand: Command {
    static let spec = CommandSpec(
        "help", "explain the tool, a verb, or the exit codes",
        operands: [Operand("TOPIC", isOptional: true, "a verb, or exit-codes")],
        options: [Option("--markdown", "write the whole reference, as docs/CLI.md has it")],
        examples: [
            CommandSpec.Example("settle help import", "explains a verb"),
            CommandSpec.Example("settle help exit-codes", "what scripts need to know"),
        ],
        json: "the same text")

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
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
        let contents = CommandList.specs.map { "- [`\($0.name)`](#\($0.name)): \($0.summary)" }
        let verbs = CommandList.specs.map { spec in
            "## \(spec.name)\n\n```\n\(HelpText.verb(spec))\n```\n"
        }
        return """
            # The command line

            This text is what `settle help` says; `settle help --markdown` writes it. A test holds the two together.

            \(contents.joined(separator: "\n"))

            ## How verbs behave

            - Results go to standard output; errors, failures of single documents and progress go to standard error.
            - Text is for people and may change. `--json` is for scripts: its members stay, more may be added.
            - Progress bars and colours are for terminals only; `NO_COLOR` takes the colours away.
            - Where a verb takes a database it takes the URL of one too, at Settle's own server, CouchDB or PouchDB Server: \
            `settle docs https://anna@couch.example/groceries`. What it writes is the same.
            - A password is looked for in the URL, `--password-file`, `SETTLE_PASSWORD` and `~/.netrc`, then it is asked for. It \
            is never shown. `SETTLE_TOKEN` is a bearer token. `http_proxy`, `https_proxy` and `no_proxy` count.
            - A database on this machine belongs to one process at a time. Verbs wait a second for another to be done, or `--wait SECONDS`.
            - Options may stand anywhere; behind `--` nothing is an option, so that an id may begin with a dash.

            ## Exit codes

            ```
            \(HelpText.exitCodes())
            ```

            \(verbs.joined(separator: "\n"))
            """
    }
}
