/// `settle help`: explains the tool, a verb, or the exit codes.
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
