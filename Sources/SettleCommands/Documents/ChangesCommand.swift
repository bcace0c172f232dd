internal import Settle

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
        if let remote = try invocation.remote() { return try run(invocation, remote) }
        var reader = ChangeReader(
            writer: ChangeWriter(invocation), hasDocuments: arguments.flag("--docs"),
            style: arguments.flag("--all-leaves") ? .allLeaves : .winner,
            isDescending: arguments.flag("--descending"),
            last: UpdateSequence(Int64(try arguments.count("--since") ?? 0)),
            limit: try arguments.count("--limit") ?? .max)
        guard arguments.flag("--follow") else {
            try invocation.withDatabase { try reader.write(from: $0) }
            return .success
        }
        Interruption.watch()
        let watch = FileWatch(try invocation.path())
        while reader.limit > 0 {
            do {
                let state = watch.state
                try invocation.withDatabase { try reader.write(from: $0) }
                try invocation.console.output.flush()
                try watch.waitForChange(from: state)
            } catch let error as DatabaseError where error.code == .inUse {
                try watch.pause()
            }
        }
        return .success
    }

    /// Lists the changes of a server.
    private static func run(_ invocation: Invocation, _ remote: Client) throws -> ExitStatus {
        let arguments = invocation.arguments
        // Servers disagree on what `since` means in a descending feed.
        try arguments.refuse("--since", with: "--descending")
        let writer = ChangeWriter(invocation)
        var query: HTTPQuery = ["style": arguments.flag("--all-leaves") ? "all_docs" : "main_only"]
        if arguments.flag("--docs") { query["include_docs"] = "true" }
        if arguments.flag("--descending") { query["descending"] = "true" }
        var left = try arguments.count("--limit") ?? .max
        if left == 0 { return .success }
        let changes = RemoteChanges(remote: remote, console: invocation.console, query: query)
        func write(_ line: ChangeLine) throws -> Bool {
            try writer.write(line)
            left -= 1
            return left > 0
        }
        if arguments.flag("--follow") {
            try changes.follow(since: arguments.text("--since"), write)
        } else {
            try changes.forEach(since: arguments.text("--since"), limit: left, write)
        }
        return .success
    }
}

/// Reads the changes of a database on this machine, and remembers its position.
private struct ChangeReader {
    let writer: ChangeWriter
    let hasDocuments: Bool
    let style: Change.Style
    let isDescending: Bool
    var last: UpdateSequence
    var limit: Int

    mutating func write(from database: Database) throws {
        guard limit > 0 else { return }
        let range = SequenceRange(after: last, descending: isDescending)
        var (newest, left) = (last, limit)
        defer { (last, limit) = (newest, left) }
        try database.forEachChange(in: range, style: style, includingDocuments: hasDocuments) { change in
            try writer.write(ChangeLine(change))
            newest = change.sequence
            left -= 1
            return left > 0
        }
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
        var line: JSON = [
            "seq": change.sequence, "id": change.id.map(JSON.string) ?? .null,
            "changes": .array(change.leaves.map { ["rev": .string($0.description)] }),
        ]
        if change.isDeleted { line["deleted"] = true }
        guard let document = change.document else { return line.description }
        let body = String(decoding: DocumentJSON(document).bytes, as: UTF8.self)
        return String(line.description.dropLast()) + ",\"doc\":" + body + "}"
    }
}
