internal import Foundation
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
        // Internal: a server starts the processes that run scripts with this word.
        if CommandLine.arguments.dropFirst().first == OwnProgram.scriptWorker {
            ScriptWorker.main(Array(CommandLine.arguments.dropFirst(2)))
        }
        // Internal: completion scripts ask for values this way.
        if CommandLine.arguments.count == 3, CommandLine.arguments[1] == OwnProgram.valueCompleter {
            Completer.printValues(CommandLine.arguments[2])
            _exit(0)
        }
        let status = run(Array(CommandLine.arguments.dropFirst()))
        // Exit handlers are skipped: those of OpenSSL would free memory that a thread which is just ending frees,
        // too.
        fflush(nil)
        _exit(status.rawValue)
    }

    /// Runs a command line without the tool's own name, or a line of a shell.
    static func run(_ words: [String], in session: ShellSession? = nil) -> ExitStatus {
        let options = words.prefix { $0 != "--" } + (session?.options ?? [])
        let console = Console(
            isJSON: options.contains("--json"), isQuiet: options.contains("--quiet") || options.contains("-q"))
        do {
            let status = try dispatch(words, console, session)
            try console.output.flush()
            return status
        } catch {
            let failure = CommandError(error)
            // Output written before the failure is part of the result.
            try? console.output.flush()
            if failure.status != .outputClosed { console.complain(failure) }
            return failure.status
        }
    }

    private static func dispatch(
        _ words: [String], _ console: Console, _ session: ShellSession?
    ) throws -> ExitStatus {
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
        let repeated = session?.repeated(for: verb.spec, on: words) ?? []
        let arguments = try ArgumentParser(
            spec: verb.spec, elsewhere: CommandList.question, database: session?.operand
        ).parse(repeated + rest)
        if arguments.flag("--help") {
            let width = console.terminal.isTerminal ? min(console.terminal.width, 100) : 100
            try console.print(HelpText.verb(verb.spec, width: width, styled: console.styled))
            return .success
        }
        return try verb.run(
            Invocation(arguments: arguments, console: console, session: session) { run($0, in: $1) })
    }
}

// MARK: - OwnProgram

/// The running program, which is also started to run scripts in other processes.
enum OwnProgram {
    /// The argument that makes this process a script worker of a server.
    static let scriptWorker = "script-worker"

    /// The word that makes this process print the values that fit at the end of a command line.
    static let valueCompleter = "complete-values"

    /// The path of the program, also if its file was replaced meanwhile.
    private static var program: String {
        #if os(Linux)
        "/proc/self/exe"
        #else
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }

    /// The options for running scripts in processes of this program.
    static var scriptOptions: ScriptOptions {
        ScriptOptions(executable: program, arguments: [scriptWorker])
    }
}
