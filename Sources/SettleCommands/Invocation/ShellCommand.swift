internal import Settle
internal import SettleHTTP

/// `settle shell`: runs commands on one database, line by line.
enum ShellCommand: Command {
    static let spec = CommandSpec(
        "shell", "run commands on one database, line by line",
        discussion: """
            Each line is a command with its arguments, without `settle` and without DB: get milk, put milk '{"count": 2}', \
            find 'count > 1', sync https://anna@couch.example/groceries. Words are quoted as in a shell; # begins a comment. \
            A folder is opened once, and stays open until the shell ends. exit or the end of the input ends it.
            A command that fails does not end the shell. At a terminal the arrow keys bring earlier lines back, Control-R \
            finds one, and Tab completes commands, options, ids, revisions, indexes, views, policies and files; pressed \
            again, it lists what fits. Lines are kept in ~/.local/state/settle/history, but none that begins with a blank or \
            has a URL with a password; ~/.editrc sets keys. Without a terminal the lines are a script: there is no prompt, \
            and the exit code is that of the last line that failed.
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
        let prompt = "\(session.name)> "
        let completer = Completer(session: session)
        let editor = LineEditor(prompt: prompt, history: HistoryFile(), console: console) { completer.complete($0) }
        var status = ExitStatus.success
        while true {
            Interruption.watch()
            if editor == nil, input.isTerminal { try console.output.write(prompt) }
            try console.output.flush()
            let line: String?
            do { line = try editor.map { try $0.readLine() } ?? input.readLine() } catch let error as CommandError
                where error.status == .interrupted && input.isTerminal
            {
                // Ctrl-C at the prompt discards the line.
                try console.print("")
                continue
            }
            guard let line else {
                if editor != nil { try console.print("") }
                break
            }
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

// MARK: - ShellWords

/// Splits a line into words like a shell: quotes keep blanks, a backslash keeps the next character.
enum ShellWords {
    /// The words of a line, without a comment.
    ///
    /// - Throws: ``CommandError`` with status `usage` for a quote that is not closed.
    static func split(_ line: String) throws -> [String] {
        let (words, last) = scan(line)
        if last.endsInBackslash { throw failure("a backslash ends the line") }
        if let quote = last.quote { throw failure("the quote \(quote) is not closed") }
        return words + [last.text].compactMap(\.self)
    }

    /// The word at the end of a line that somebody types, and where it begins.
    struct LastWord {
        /// The word without its quotes; `nil` after a blank.
        var text: String?
        /// Its first character in the line; the end of the line after a blank, `nil` in a comment.
        var start: String.Index?
        /// The quote that is open.
        var quote: Character?
        var endsInBackslash = false
    }

    /// The words of a line, and the last one, which may be incomplete.
    static func scan(_ line: String) -> (words: [String], last: LastWord) {
        var words: [String] = []
        var word = LastWord()
        var rest = line[...]
        while let character = rest.first {
            let place = rest.startIndex
            rest = rest.dropFirst()
            func add(_ text: String) {
                if word.text == nil { word.start = place }
                word.text = (word.text ?? "") + text
            }
            switch (word.quote, character) {
            case (nil, "#") where word.text == nil: return (words, LastWord())
            case (nil, "'"), (nil, "\""):
                add("")
                word.quote = character
            case (nil, _) where character.isWhitespace:
                if let text = word.text { words.append(text) }
                word = LastWord()
            case (let open?, _) where open == character: word.quote = nil
            // Within double quotes a backslash keeps only what has a meaning there.
            case ("\"", "\\"):
                let isKept = rest.first == "\"" || rest.first == "\\"
                add(String(isKept ? rest.removeFirst() : character))
            case (nil, "\\"):
                let next = rest.popFirst()
                add(next.map { String($0) } ?? "")
                word.endsInBackslash = next == nil
            default: add(String(character))
            }
        }
        if word.text == nil { word.start = line.endIndex }
        return (words, word)
    }

    /// A word as it is typed in a line, so that ``split(_:)`` reads it: with backslashes, or within the quote it began with.
    static func quoted(_ word: String, in quote: Character? = nil) -> String {
        if let quote {
            let kept = quote == "\"" ? word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") : word
            return "\(quote)\(kept)"
        }
        let special = Set("'\"\\#")
        return String(word.flatMap { special.contains($0) || $0.isWhitespace ? ["\\", $0] : [$0] })
    }

    /// A word as it is typed at the prompt of the system's shell, for commands in messages.
    static func typed(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "_.-/:%".utf8.contains($0)
        }
        return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    private static func failure(_ message: String) -> CommandError { .usage("\(message) in this line", verb: "shell") }
}

// MARK: - ShellSession

/// The database of a shell, which its commands share: the folder stays open from the first to the last line.
final class ShellSession {
    /// The name of the database in the prompt.
    let name: String
    /// The database as given on the command line.
    let operand: String
    /// The options for URLs and for all commands, which each line repeats.
    let options: [String]
    private let runLine: ([String], ShellSession) -> ExitStatus
    private var database: Database?

    /// Opens the folder, or checks the database at a URL.
    init(_ invocation: Invocation) throws {
        let arguments = invocation.arguments
        operand = try arguments.operand("DB")
        runLine = invocation.runLine
        options =
            RemoteOptions.options.flatMap { option in
                arguments.text(option.name).map { [option.name, $0] } ?? []
            }
            + ["--json", "--quiet"].filter(arguments.flag)
        if let remote = try invocation.remote() {
            name = remote.url.databaseName ?? remote.name
            _ = try remote.info()
        } else {
            let path = try invocation.path()
            name = path.split(separator: "/").last.map(String.init) ?? path
            database = try invocation.waiting { try Database.open(path) }
        }
    }

    /// Runs a line.
    func run(_ words: [String]) -> ExitStatus { runLine(words, self) }

    /// The options of the shell that a command accepts, too, and that its line does not contain.
    func repeated(for spec: CommandSpec, on line: [String]) -> [String] {
        var accepted: [String] = []
        var isAccepted = false
        for word in options {
            if word.hasPrefix("--") {
                let option = spec.allOptions.first { $0.isNamed(word) }
                isAccepted = option.map { option in !line.contains { option.isNamed(Self.name(of: $0)) } } ?? false
            }
            if isAccepted { accepted.append(word) }
        }
        return accepted
    }

    /// The name of an option in a word of a line: `--user` of `--user=anna`.
    private static func name(of word: String) -> String { String(word.prefix { $0 != "=" }) }

    /// The open database of a folder. It is opened again if it was closed or is requested with other options.
    func database(_ options: DatabaseOptions, open: () throws -> Database) throws -> Database {
        if options.journal == nil, let database { return database }
        database?.close()
        database = nil
        let opened = try open()
        database = opened
        return opened
    }

    /// Whether a database is that of the shell, which stays open.
    func keeps(_ other: Database) -> Bool { database === other }

    /// Closes the folder.
    func close() { database?.close() }
}
