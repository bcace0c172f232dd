internal import Settle
internal import SettlePlatform
internal import SettleScripting

/// The tool `settle`.
public enum CommandLineTool {
    /// Runs the command line of this process, and ends the process.
    ///
    /// `settle help exit-codes` lists the exit codes.
    public static func main() -> Never {
        Interruption.ignoreBrokenPipes()
        // Internal: a server starts the processes that run scripts this way.
        if CommandLine.arguments.dropFirst().first == OwnProgram.scriptWorker {
            ScriptWorker.main(Array(CommandLine.arguments.dropFirst(2)))
        }
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs a command line without the tool's own name.
    static func run(_ words: [String]) -> ExitStatus {
        let options = words.prefix { $0 != "--" }
        let console = Console(
            isJSON: options.contains("--json"), isQuiet: options.contains("--quiet") || options.contains("-q"))
        do {
            let status = try dispatch(words, console)
            try console.output.flush()
            return status
        } catch {
            let failure = CommandError(error)
            // Output written before the failure is part of the result.
            try? console.output.flush()
            if failure.status != .success { console.complain(failure) }
            return failure.status
        }
    }

    private static func dispatch(_ words: [String], _ console: Console) throws -> ExitStatus {
        guard let index = words.firstIndex(where: { !$0.hasPrefix("-") || ["--help", "-h", "--version"].contains($0) })
        else {
            if let option = words.first(where: { !["--json", "--quiet", "-q"].contains($0) }) {
                throw CommandError.usage("there is no option \(option) before the command")
            }
            try console.errors.write(HelpText.overview(styled: console.errorTerminal.styled) + "\n")
            try console.errors.flush()
            return .usage
        }
        let rest = words[..<index] + words[(index + 1)...]
        let verb: any Command.Type =
            switch words[index] {
            case "--help", "-h": HelpCommand.self
            case "--version": VersionCommand.self
            case let name: try CommandList.verb(name)
            }
        let arguments = try ArgumentParser(spec: verb.spec).parse(rest)
        if arguments.flag("--help") {
            let width = console.terminal.isTerminal ? min(console.terminal.width, 100) : 100
            try console.print(HelpText.verb(verb.spec, width: width, styled: console.styled))
            return .success
        }
        return try verb.run(Invocation(arguments: arguments, console: console))
    }
}
