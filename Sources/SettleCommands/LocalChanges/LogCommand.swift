internal import Settle
import SettleDatabase
internal import SettlePlatform
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
        guard !history.isEmpty else { return try console.printNote("Everything is synchronized") }
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

// MARK: - JournalTable

/// The journal as text: operations in rows, and differences of contents.
struct JournalTable {
    let width: Int
    let styled: Styled

    /// The title of the operations.
    var title: [String] {
        grid.lines(["number", "when (UTC)", "operation", "document", "old", "new"].map { Grid.Cell($0, .faint) })
    }

    /// An operation in a row.
    func lines(_ entry: JournalEntry) -> [String] {
        grid.lines([
            Grid.Cell("\(entry.number)"), Grid.Cell(Self.time(entry.time.milliseconds), .faint),
            Grid.Cell(entry.operation.rawValue, Self.style(of: entry.operation)),
            Grid.Cell(entry.documentID.string, .bold), Grid.Cell(Self.text(entry.old)),
            Grid.Cell(Self.text(entry.new)),
        ])
    }

    private var grid: Grid {
        let rest = max(width - 6 - 19 - 9 - 16 - 5 * Grid.gap, 20)
        return Grid(widths: [6, 19, 9, 16, rest / 2, rest - rest / 2], longestCell: 2, styled: styled)
    }

    static func style(of operation: JournalEntry.Operation) -> Style {
        switch operation {
        case .create: .green
        case .update: .yellow
        case .delete: .red
        }
    }

    private static func text(_ content: RevisionContent?) -> String {
        guard let content else { return "-" }
        let names = content.attachments.map(\.name).joined(separator: ", ")
        return content.body.description + (names.isEmpty ? "" : " with \(names)")
    }

    /// A time as `2026-01-02 03:04:05`.
    static func time(_ milliseconds: Int64) -> String {
        let time = WallTime(seconds: Int(milliseconds / 1000))
        return "\(time.date) \(time.clock)"
    }

    /// The pending changes of a document as a difference: removed values after `-`, new ones after `+`.
    ///
    ///     UPDATE milk
    ///       - count: 2
    ///       + count: 3
    func lines(_ change: PendingChange, from old: RevisionContent?) -> [String] {
        let name = styled(change.operation.rawValue, Self.style(of: change.operation))
        var lines = ["\(name) \(styled(change.documentID.string, .bold))"]
        func add(_ mark: String, _ name: String, _ value: JSONValue, _ style: Style) {
            lines.append("  " + styled(TextWidth.harmless("\(mark) \(name): \(value)"), style))
        }
        let before = old?.body.json.object ?? JSONObject()
        if change.operation == .delete {
            for member in before { add("-", member.name, member.value, .red) }
        }
        for attribute in change.fields {
            if let value = before[attribute.name] { add("-", attribute.name, value, .red) }
            if let value = attribute.value { add("+", attribute.name, value, .green) }
        }
        return lines
    }
}
