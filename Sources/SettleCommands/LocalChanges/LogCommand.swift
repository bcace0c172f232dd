internal import Settle
internal import SettlePlatform

/// `settle log`: shows the local operations that are not synchronized yet.
enum LogCommand: Command {
    static let spec = CommandSpec(
        "log", "show the local operations that no peer has acknowledged yet",
        discussion: """
            A journal records each local create, update and delete, with the document before and after, until a peer \
            has acknowledged its revision. Below are the pending changes: the same operations as one change per \
            document, which is what will be sent. Replicated changes are not recorded. --off deletes the journal; the \
            documents stay. A Settle server shows the journal of a database to its administrators; CouchDB has none.
            """,
        operands: [.database, Operand("ID", isOptional: true, "only the operations on this document")],
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
            "value":… or "removed":true,"timestamp":milliseconds} …],"rev":…} …]}; an operation on a document with \
            attachments has "attachments":{"old":[name …],"new":[name …]}; of --on and --off {"ok":true,"journal":bool}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        try arguments.refuse("--on", with: "--off")
        if let option = ["--on", "--off"].first(where: arguments.flag) {
            try arguments.refuse("--limit", with: option)
            if let id = arguments.optionalOperand("ID") {
                throw CommandError.usage(
                    "\(option) is for the journal of all documents; leave out \"\(id)\"", verb: spec.name)
            }
            let isOn = arguments.flag("--on")
            // A folder whose journal is damaged opens without it.
            if let remote = try invocation.remote() {
                try remote.setJournal(isOn)
            } else {
                try invocation.withDatabase(journal: isOn) { _ in }
            }
            let text = isOn ? "The journal is switched on" : "The journal is switched off and deleted"
            try console.print(text, json: ["ok": true, "journal": .bool(isOn)])
            return .success
        }
        let limit = try arguments.count("--limit") ?? .max
        let id = try arguments.optionalOperand("ID").map { try DocumentID(validating: $0) }
        return try invocation.withClient { client in
            let (history, pending) = try client.journal(of: id)
            let shown = Array(history.suffix(limit))
            if console.isJSON {
                let line: JSONValue = ["history": .array(shown), "pending": .array(pending)]
                try console.print(line.description)
            } else if history.isEmpty {
                let note = try nothing(of: id, client)
                try console.printNote(note)
            } else {
                try show(shown, pending, console)
            }
            return .success
        }
    }

    /// The note that there is no operation, on one document or on all.
    private static func nothing(of id: DocumentID?, _ client: Client) throws -> String {
        let synchronized = "Everything is synchronized"
        guard let id else { return synchronized }
        let others = try client.journal().history.count
        return others == 0 ? synchronized : "No operation on \"\(id)\" is pending (on other documents: \(others))"
    }

    private static func show(_ history: [JSONValue], _ pending: [JSONValue], _ console: Console) throws {
        let table = JournalTable(width: console.width, styled: console.styled)
        if !history.isEmpty {
            for line in table.title { try console.print(line) }
            for entry in history { for line in table.lines(entry) { try console.print(line) } }
            try console.print("")
        }
        try console.print(console.styled(pending.isEmpty ? "Nothing is pending" : "Pending", .bold))
        for change in pending {
            let names = (change["changes"]?.array ?? []).map { attribute in
                (attribute["value"] == nil ? "-" : "") + (attribute["attribute"]?.string ?? "")
            }
            let what = names.isEmpty ? "" : "  " + names.joined(separator: ", ")
            try console.print("  \(table.operation(of: change)) \(change["id"]?.string ?? "")\(what)")
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
    func lines(_ entry: JSONValue) -> [String] {
        let operation = entry["operation"]?.string ?? ""
        return grid.lines([
            Grid.Cell("\(entry["number"]?.int ?? 0)"),
            Grid.Cell(Self.time(Int64(entry["timestamp"]?.int ?? 0)), .faint),
            Grid.Cell(operation, Self.style(of: operation)), Grid.Cell(entry["id"]?.string ?? "", .bold),
            Grid.Cell(Self.text("old", of: entry)), Grid.Cell(Self.text("new", of: entry)),
        ])
    }

    /// The styled name of an operation.
    func operation(of change: JSONValue) -> String {
        let operation = change["operation"]?.string ?? ""
        return styled(operation, Self.style(of: operation))
    }

    private var grid: Grid {
        let rest = max(width - 6 - 19 - 9 - 16 - 5 * Grid.gap, 20)
        return Grid(widths: [6, 19, 9, 16, rest / 2, rest - rest / 2], longestCell: 2, styled: styled)
    }

    static func style(of operation: String) -> Style {
        switch JournalEntry.Operation(rawValue: operation) {
        case .create: .green
        case .delete: .red
        case .update, nil: .yellow
        }
    }

    private static func text(_ side: String, of entry: JSONValue) -> String {
        guard let body = entry[side], !body.isNull else { return "-" }
        let names = (entry["attachments"]?[side]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        return body.description + (names.isEmpty ? "" : " with \(names)")
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
    func lines(_ change: JSONValue, from old: JSONValue?) -> [String] {
        var lines = ["\(operation(of: change)) \(styled(change["id"]?.string ?? "", .bold))"]
        func add(_ mark: String, _ name: String, _ value: JSONValue, _ style: Style) {
            lines.append("  " + styled(TextWidth.harmless("\(mark) \(name): \(value)"), style))
        }
        let before = old?.object ?? JSONObject()
        if change["operation"] == .string(JournalEntry.Operation.delete.rawValue) {
            for member in before { add("-", member.name, member.value, .red) }
        }
        for attribute in change["changes"]?.array ?? [] {
            let name = attribute["attribute"]?.string ?? ""
            if let value = before[name] { add("-", name, value, .red) }
            if let value = attribute["value"] { add("+", name, value, .green) }
        }
        return lines
    }
}
