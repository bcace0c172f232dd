internal import Settle
import SettleServer

/// `settle log`: shows the local operations that are not synchronized yet.
enum LogCommand: Command {
    static let spec = CommandSpec(
        "log", "show the local operations that no peer has acknowledged yet",
        discussion: """
            A journal records each local create, update and delete, with the document before and after, until a peer \
            has acknowledged its revision. Below are the pending changes: the same operations as one change per \
            document, which is what will be sent. Replicated changes are not recorded. --off deletes the journal; the \
            documents stay.
            """,
        operands: [.folder, Operand("ID", isOptional: true, "only the operations on this document")],
        options: [
            Option("--limit", value: "N", "show at most N operations, the newest"),
            Option("--on", "keep a journal from now on"), Option("--off", "stop keeping a journal, and delete it"),
        ],
        examples: [
            CommandSpec.Example("settle log groceries --on", "keeps a journal from now on"),
            CommandSpec.Example("settle log groceries", "shows local operations since the last synchronization"),
            CommandSpec.Example(
                "settle log groceries milk --json", "shows the operations on one document, for a script"),
        ],
        json: """
            {"history":[{"number":N,"operation":"CREATE", "UPDATE" or "DELETE","id":…,"old":{…} or null,"new":{…} or \
            null,"rev":…,"timestamp":milliseconds} …],"pending":[{"operation":…,"id":…,"changes":[{"attribute":…,\
            "value":… or "removed":true,"timestamp":milliseconds} …],"rev":…} …]}; of --on and --off {"ok":true,\
            "journal":bool}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        try arguments.refuse("--on", with: "--off")
        if arguments.flag("--on") || arguments.flag("--off") {
            let isOn = arguments.flag("--on")
            return try invocation.withDatabase(journal: isOn) { _ in
                let text = isOn ? "The journal is switched on" : "The journal is switched off and deleted"
                try console.print(text, json: ["ok": true, "journal": .bool(isOn)])
                return .success
            }
        }
        let limit = try arguments.count("--limit") ?? .max
        let id = try arguments.optionalOperand("ID").map { try DocumentID(validating: $0) }
        return try invocation.withJournal { _, journal in
            let history = try id.map { try journal.history(of: $0).suffix(limit) } ?? journal.newest(limit)[...]
            let pending = try id.map { try journal.pending(of: $0).map { [$0] } ?? [] } ?? journal.pending
            if console.isJSON {
                let line: JSONValue = [
                    "history": .array(history.map(JournalJSON.entry)),
                    "pending": .array(pending.map(JournalJSON.change)),
                ]
                try console.print(line.description)
            } else {
                try show(Array(history), pending, console)
            }
            return .success
        }
    }

    private static func show(_ history: [JournalEntry], _ pending: [PendingChange], _ console: Console) throws {
        guard !history.isEmpty else { return try console.note("Everything is synchronized") }
        let table = JournalTable(width: console.width, styled: console.styled)
        for line in table.title { try console.print(line) }
        for entry in history { for line in table.lines(entry) { try console.print(line) } }
        try console.print("")
        try console.print(console.styled(pending.isEmpty ? "Nothing is pending" : "Pending", .bold))
        for change in pending {
            let names = change.fields.map { $0.value == nil ? "-\($0.name)" : $0.name }
            let what = names.isEmpty ? "" : "  " + names.joined(separator: ", ")
            let operation = console.styled(change.operation.rawValue, JournalTable.style(of: change.operation))
            try console.print("  \(operation) \(change.documentID)\(what)")
        }
    }
}
