/// `settle help`: explains the tool, a verb, or the exit codes.
enum HelpVerb: Verb {
    static let guide = Guide(
        "help", "explain the tool, a verb, or the exit codes",
        operands: [Operand("TOPIC", isOptional: true, "a verb, or exit-codes")],
        options: [Option("--markdown", "write the whole reference, as docs/CLI.md has it")],
        examples: [
            Guide.Example("settle help import", "explains a verb"),
            Guide.Example("settle help exit-codes", "what scripts need to know"),
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
            try console.print(HelpText.verb(VerbList.verb(name).guide, width: width, styled: console.styled))
        }
        return .success
    }
}
