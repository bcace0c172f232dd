internal import Settle

/// `settle shell`: runs commands on one database, line by line.
enum ShellCommand: Command {
    static let spec = CommandSpec(
        "shell", "run commands on one database, line by line",
        discussion: """
            Each line is a command with its arguments, without `settle` and without DB: get milk, put milk '{"count": 2}', \
            find 'count > 1', sync https://anna@couch.example/groceries. Words are quoted as in a shell; # begins a comment. \
            A folder is opened once, and stays open until the shell ends. exit or the end of the input ends it.
            A command that fails does not end the shell. Without a terminal the lines are a script: there is no prompt, and \
            the exit code is that of the last line that failed.
            """,
        operands: [.database], options: [],
        examples: [
            CommandSpec.Example("settle shell groceries", "asks for commands until exit"),
            CommandSpec.Example("settle shell groceries < changes.txt", "runs the commands of a file"),
            CommandSpec.Example("printf 'docs\\nconflicts\\n' | settle shell groceries --json", "every result as JSON"),
        ],
        json: "the output of each command with --json")

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        guard invocation.session == nil else { throw CommandError.usage("this is a shell already", verb: spec.name) }
        let session = try ShellSession(invocation)
        defer { session.close() }
        return try ShellLoop(invocation: invocation, session: session).run()
    }
}

/// Reads the lines of a shell, and runs each.
private struct ShellLoop {
    let invocation: Invocation
    let session: ShellSession

    func run() throws -> ExitStatus {
        let input = ByteInput()
        let console = invocation.console
        var status = ExitStatus.success
        while true {
            Interruption.watch()
            if input.isTerminal {
                try console.output.write("\(session.name)> ")
                try console.output.flush()
            }
            let line: String?
            do { line = try input.readLine() } catch let error as CommandError
                where error.status == .interrupted && input.isTerminal
            {
                // Ctrl-C at the prompt drops the line.
                try console.print("")
                continue
            }
            guard let line else { break }
            let words: [String]
            do { words = try ShellWords.split(line) } catch {
                let failure = CommandError(error)
                console.complain(failure)
                status = failure.status
                continue
            }
            guard let verb = words.first else { continue }
            if ["exit", "quit"].contains(verb) { break }
            let outcome = session.run(words)
            if outcome == .outputClosed || outcome == .interrupted && !input.isTerminal { return outcome }
            if outcome != .success { status = outcome }
        }
        return input.isTerminal ? .success : status
    }
}
