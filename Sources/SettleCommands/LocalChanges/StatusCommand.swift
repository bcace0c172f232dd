internal import Settle

/// `settle status`: shows the pending changes.
enum StatusCommand: Command {
    static let spec = CommandSpec(
        "status", "show what is to be sent, as a difference to what peers have",
        discussion: """
            Of each document with local operations: which attributes have another value than when it was last \
            synchronized. What was changed back is shown, too, for that value was meant. Needs a journal, see `settle log`.
            """,
        operands: [.folder],
        examples: [
            CommandSpec.Example("settle status groceries", "shows what a push would bring"),
            CommandSpec.Example("settle status groceries --json", "the same for a script"),
        ],
        json: """
            one line each: {"operation":…,"id":…,"changes":[{"attribute":…,"value":… or "removed":true,"timestamp":\
            milliseconds} …],"rev":…,"old":{…} or null}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        return try invocation.withJournal { _, journal in
            let pending = journal.pending
            let table = JournalTable(width: console.width, styled: console.styled)
            for change in pending {
                let old = try journal.history(of: change.documentID).first?.old
                if console.isJSON {
                    var line = JournalJSON.change(change)
                    line["old"] = old?.body.json ?? .null
                    try console.print(line.description)
                } else {
                    for line in table.lines(change, from: old) { try console.print(line) }
                }
            }
            let count = Quantity.of(pending.count, "document")
            try console.note(pending.isEmpty ? "Nothing is to be sent" : "\(count) to be sent")
            return .success
        }
    }
}
