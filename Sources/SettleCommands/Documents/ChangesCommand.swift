internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
import SettleReplication

/// `settle changes`: lists changes.
enum ChangesCommand: Command {
    static let spec = CommandSpec(
        "changes", "list the documents by their last changes",
        discussion: """
            Each document is listed once, at its last change. Sequences of a server are texts; --json prints them in \
            full. --follow of a URL reads the server's continuous feed, and reconnects if the connection is lost; of a \
            folder it checks twice a second for changes by other processes, and has the database open only while it \
            reads, so that others can write.
            """,
        operands: [.database],
        options: [
            Option("--since", value: "N", "only changes after this sequence (default 0)"),
            Option("--limit", value: "N", "print at most N changes"),
            Option("--descending", "the newest first"),
            Option("--all-leaves", "list every leaf, not only the winner"),
            Option("--docs", "include the documents"),
            Option("--follow", short: "-f", "continue with new changes until Ctrl-C"),
        ],
        examples: [
            CommandSpec.Example("settle changes groceries --limit 10 --descending", "lists recent changes"),
            CommandSpec.Example(
                "settle changes groceries --since 1207 --docs --json", "lists changes after sequence 1207"),
            CommandSpec.Example("settle changes groceries --follow", "lists all changes, and new ones as they happen"),
        ],
        json: """
            one line each, as CouchDB has it: {"seq":N or text,"id":…,"changes":[{"rev":…} …]}, with "deleted":true for a \
            deleted one, with "doc":{…} under --docs
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        try arguments.refuse("--follow", with: "--descending")
        var reader = try ChangeReader(invocation)
        guard arguments.flag("--follow") else {
            try invocation.withClient { try reader.read($0) }
            return .success
        }
        if Invocation.isURL(try arguments.operand("DB")) {
            try invocation.withClient { try reader.follow($0) }
        } else {
            try followFolder(invocation, &reader)
        }
        return .success
    }

    /// Reads again whenever the files change. The database is open only while it is read, so that other processes
    /// can write.
    private static func followFolder(_ invocation: Invocation, _ reader: inout ChangeReader) throws {
        Interruption.watch()
        let watch = FileWatch(try invocation.path())
        while reader.limit > 0 {
            do {
                let state = watch.state
                try invocation.withClient { try reader.read($0) }
                try invocation.console.output.flush()
                try watch.waitForChange(from: state)
            } catch let error as DatabaseError where error.code == .inUse {
                try watch.pause()
            }
        }
    }
}

/// Reads the changes of a database, and stores its position.
private struct ChangeReader {
    private let console: Console
    private let writer: ChangeWriter
    private let query: HTTPQuery
    private let isDescending: Bool
    private var since: String?
    private(set) var limit: Int

    init(_ invocation: Invocation) throws {
        let arguments = invocation.arguments
        (console, writer) = (invocation.console, ChangeWriter(invocation))
        (since, limit) = (arguments.text("--since"), try arguments.count("--limit") ?? .max)
        isDescending = arguments.flag("--descending")
        var query: HTTPQuery = ["style": arguments.flag("--all-leaves") ? "all_docs" : "main_only"]
        if arguments.flag("--docs") { query["include_docs"] = "true" }
        if isDescending { query["descending"] = "true" }
        self.query = query
    }

    /// Writes the existing changes.
    mutating func read(_ client: Client) throws {
        guard limit > 0 else { return }
        let feed = ChangeFeed(client: client, console: console, query: query)
        // Changes before a position can only be recognized if positions contain numbers that increase with each
        // change.
        if isDescending, since != nil, try !client.isAtSettle() {
            throw CommandError.usage("--since and --descending exclude each other at CouchDB", verb: "changes")
        }
        // When reading backward, this number is the end.
        let first = isDescending ? since.flatMap { PeerSequence(.string($0)).number } : nil
        try feed.forEach(since: first == nil ? since : nil, limit: limit) { line in
            if let first, let number = PeerSequence(line.sequence).number, number <= first { return false }
            return try write(line)
        }
    }

    /// Writes the existing changes and, at a server, each new one.
    mutating func follow(_ client: Client) throws {
        guard limit > 0 else { return }
        try ChangeFeed(client: client, console: console, query: query).follow(since: since) { try write($0) }
    }

    private mutating func write(_ line: ChangeLine) throws -> Bool {
        // The last row of a feed has no document.
        guard line.id != nil else { return true }
        try writer.write(line)
        if !isDescending { since = PeerSequence(line.sequence).description }
        limit -= 1
        return limit > 0
    }
}

/// Writes changes.
private struct ChangeWriter {
    private let console: Console

    init(_ invocation: Invocation) { console = invocation.console }

    func write(_ change: ChangeLine) throws {
        if console.isJSON { return try console.print(json(change)) }
        let sequence = console.styled(change.position, .blue)
        let revisions = console.styled(change.leaves.map(\.description).joined(separator: " "), .faint)
        let mark = change.isDeleted ? "  " + console.styled("deleted", .red) : ""
        try console.print("\(sequence)  \(Columns.padded(change.id ?? ""))  \(revisions)\(mark)")
        if let document = change.document { try console.print("  " + document.bodyOrEmpty.description) }
    }

    private func json(_ change: ChangeLine) -> String {
        var line: JSONValue = [
            "seq": change.sequence, "id": change.id.map(JSONValue.string) ?? .null,
            "changes": .array(change.leaves.map { ["rev": .string($0.description)] }),
        ]
        if change.isDeleted { line["deleted"] = true }
        guard let document = change.document else { return line.description }
        let body = String(decoding: document.wire.bytes(.bodyLate), as: UTF8.self)
        return String(line.description.dropLast()) + ",\"doc\":" + body + "}"
    }
}

// MARK: - FileWatch

/// Detects that another process wrote to a database, without opening it, by the sizes and times of its files.
struct FileWatch {
    /// The state of the files.
    struct State: Equatable {
        fileprivate var files: [FileStatus?]
    }

    private let files: [String]

    init(_ folder: String) { files = ["/database.sqlite", "/database.sqlite-wal"].map { folder + $0 } }

    /// The current state of the files.
    var state: State { State(files: files.map { FileStatus(path: $0) }) }

    /// Waits until the files change.
    ///
    /// - Throws: ``CommandError/interrupted`` if Ctrl-C is pressed.
    func waitForChange(from old: State) throws {
        repeat { try pause() } while state == old
    }

    /// Waits a moment.
    func pause() throws {
        for _ in 0..<10 {
            try Interruption.check()
            usleep(50_000)
        }
        try Interruption.check()
    }
}
