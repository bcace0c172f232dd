internal import Settle

/// The database of a shell, which its commands share: the folder is open from the first to the last line.
final class ShellSession {
    /// What the prompt calls the database.
    let name: String
    /// The database as the command line names it.
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

    /// The options of the shell that a command takes too, and that its line does not give.
    func repeated(for spec: CommandSpec, on line: [String]) -> [String] {
        var accepted: [String] = []
        var isAccepted = false
        for word in options {
            if word.hasPrefix("--") {
                isAccepted = spec.allOptions.contains { $0.isNamed(word) } && !line.contains(word)
            }
            if isAccepted { accepted.append(word) }
        }
        return accepted
    }

    /// The open database of a folder, opened anew if it was closed or is wanted with other options.
    func database(_ options: DatabaseOptions, open: () throws -> Database) throws -> Database {
        if options.journal == nil, let database { return database }
        database?.close()
        database = nil
        let opened = try open()
        database = opened
        return opened
    }

    /// Whether a database is the shell's, which stays open.
    func keeps(_ other: Database) -> Bool { database === other }

    /// Closes the folder.
    func close() { database?.close() }
}
