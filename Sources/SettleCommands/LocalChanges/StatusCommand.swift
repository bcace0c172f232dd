internal import Settle

/// `settle status`: shows the pending changes.
enum StatusCommand: Command {
    static let spec = CommandSpec(
        "status", "show pending changes, as a difference to the synchronized documents",
        discussion: """
            For each document with local operations: the attributes changed since it was last synchronized. An \
            attribute that was changed back is listed too, because the change was intended. Needs a journal, see \
            `settle log`; that of a Settle server's database is for its administrators.
            """,
        operands: [.database],
        examples: [
            CommandSpec.Example("settle status groceries", "shows what a push would send"),
            CommandSpec.Example("settle status groceries --json", "the same for a script"),
        ],
        json: """
            one line each: {"operation":…,"id":…,"changes":[{"attribute":…,"value":… or "removed":true,"timestamp":\
            milliseconds} …],"rev":…,"old":{…} or null}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        return try invocation.withClient { client in
            let (history, pending) = try client.journal()
            let before = Dictionary(history.map { ($0["id"], $0["old"]) }) { first, _ in first }
            let table = JournalTable(width: console.width, styled: console.styled)
            for change in pending {
                let old = before[change["id"]] ?? nil
                if console.isJSON {
                    var line = change
                    line["old"] = old ?? .null
                    try console.print(line.description)
                } else {
                    for line in table.lines(change, from: old) { try console.print(line) }
                }
            }
            let count = Quantity.of(pending.count, "document")
            try console.printNote(pending.isEmpty ? "Nothing is pending" : "\(count) pending")
            return .success
        }
    }
}
