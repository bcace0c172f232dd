internal import Settle

/// Synchronizes a session until all is sent or the user stops, and reports the outcome.
struct OfflineSyncRun {
    /// The decision about a refused operation.
    enum Decision {
        case mine
        case theirs
        case edit(DocumentBody)
        case skip

        var name: String {
            switch self {
            case .mine: "mine"
            case .theirs: "theirs"
            case .edit: "edit"
            case .skip: "skip"
            }
        }
    }

    let session: OfflineSession
    let url: HTTPURL
    let console: Console

    /// Synchronizes, and asks for a decision about each refused operation.
    func run(_ journal: Journal, decide: (OfflineConflict) throws -> Decision) throws -> ExitStatus {
        let session = session
        let before = journal.count
        var status = try wait { try await session.goOnline() }
        while let conflict = status.conflict {
            let decision = try decide(conflict)
            if console.isJSON {
                let line: JSONValue = ["conflict": json(conflict), "decision": .string(decision.name)]
                try console.print(line.description)
            }
            switch decision {
            case .skip: return try finish(status, before, journal)
            case .mine: try wait { try await session.replace(with: conflict.new?.body) }
            case .theirs: try wait { try await session.discard() }
            case .edit(let body): try wait { try await session.replace(with: body) }
            }
            status = try wait { try await session.goOnline() }
        }
        return try finish(status, before, journal)
    }

    private func finish(_ status: OfflineStatus, _ before: Int, _ journal: Journal) throws -> ExitStatus {
        if let error = status.error { throw ClientFailure(url: url).explained(error) }
        let left = journal.count
        if let conflict = status.conflict, !console.isJSON { try show(conflict) }
        let text =
            left == 0
            ? "Everything is synchronized, \(Quantity.of(before, "operation")) decided or sent"
            : "\(Quantity.of(left, "operation")) left; run it again to continue"
        try console.print(
            text,
            json: [
                "ok": .bool(status.state == .online), "state": .string(status.state.rawValue),
                "left": .number(JSONNumber(left)),
                "last_sync": status.lastSyncDate.map { .number(JSONNumber($0.milliseconds)) } ?? .null,
            ])
        return status.state == .online ? .success : .conflict
    }

    private func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        do { return try Waiting.wait(for: work) } catch { throw ClientFailure(url: url).explained(error) }
    }

    private func json(_ conflict: OfflineConflict) -> JSONValue {
        let reason = if case .refused(let message) = conflict.reason { message } else { "changed" }
        return [
            "operation": .string(conflict.operation.rawValue), "id": .string(conflict.documentID.string),
            "old": conflict.old?.body.json ?? .null, "new": conflict.new?.body.json ?? .null,
            "server": conflict.server?.json ?? .null, "reason": .string(reason),
        ]
    }

    private func show(_ conflict: OfflineConflict) throws {
        let operation = console.styled(conflict.operation.rawValue, JournalTable.style(of: conflict.operation))
        try console.print("\(operation) \(console.styled(conflict.documentID.string, .bold)) was refused")
        if case .refused(let message) = conflict.reason { try console.print("  " + TextWidth.harmless(message)) }
        let rows = [
            ("was", conflict.old?.body), ("mine", conflict.new?.body), ("theirs", conflict.server),
        ].map { ($0.0, TextWidth.harmless($0.1?.description ?? "no document")) }
        for line in Columns.aligned(rows, indent: 2) { try console.print(line) }
    }

    /// Shows a refused operation and prompts on the terminal.
    func ask(_ conflict: OfflineConflict) throws -> Decision {
        try show(conflict)
        while true {
            try console.output.write("keep (m)ine, take (t)heirs, (e)dit, (s)kip? ")
            try console.output.flush()
            let answer = readLine()
            try Interruption.check()
            switch answer?.first {
            case "m": return .mine
            case "t": return .theirs
            case "e": return .edit(try edited(conflict))
            case "s", nil: return .skip
            default: continue
            }
        }
    }

    private func edited(_ conflict: OfflineConflict) throws -> DocumentBody {
        let body = conflict.new?.body ?? conflict.server ?? .empty
        let editor = try TextEditor(body.json.prettyPrinted + "\n")
        defer { editor.remove() }
        return try DocumentBody(parsing: try editor.edit())
    }
}
