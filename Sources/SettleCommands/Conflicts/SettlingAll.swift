internal import Settle

/// Settles all conflicts of a database by a policy, and reports the outcomes.
struct SettlingAll {
    let policy: ConflictPolicy
    let console: Console

    /// Settles them, or shows the result if `--dry-run` was given.
    func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.withClient(warns: false) { client in
            let bar = ProgressBar(console)
            if invocation.arguments.flag("--dry-run") { return try preview(client) }
            let report = try client.database.map { try settle($0, bar) } ?? settle(client, bar)
            if console.isJSON {
                try console.print(json(report, bar.elapsed).description)
            } else {
                try console.note(summary(report, bar.elapsed))
            }
            return report.failed > 0 ? .failure : .success
        }
    }

    /// The outcomes of the conflicts.
    private struct Report {
        var settled = 0
        var left = 0
        var gone = 0
        var failed = 0
        var revisionsWritten = 0
        var races = 0

        init() {}

        init(_ report: SettlementReport) {
            (settled, left, gone, failed) = (report.settled, report.left, report.gone, report.failed)
            (revisionsWritten, races) = (report.revisionsWritten, report.races)
        }

        mutating func add(_ settlement: Settlement) {
            switch settlement.outcome {
            case .settled: settled += 1
            case .left: left += 1
            case .nothing: gone += 1
            }
            revisionsWritten += settlement.written.count
            if !settlement.racingAnswers.isEmpty { races += 1 }
        }
    }

    /// Settles the conflicts of a folder, several concurrently.
    private func settle(_ database: Database, _ bar: ProgressBar) throws -> Report {
        let all = try bar.watch("Settling") { try database.settleAll(using: policy, progress: $0) }
        for failure in all.failures { complain(failure.documentID, failure.error) }
        let hidden = all.failed - all.failures.count
        if hidden > 0, !console.isJSON { console.complain("… and \(Quantity.grouped(hidden)) more", json: .null) }
        return Report(all)
    }

    /// Settles the conflicts of a server, one document after another.
    private func settle(_ client: Client, _ bar: ProgressBar) throws -> Report {
        var report = Report()
        defer { bar.finish() }
        try client.forEachConflict(ConflictKind.allCases.filter(policy.kinds.contains)) { state in
            let id = state.id
            do {
                report.add(try client.settle(&state, using: policy))
            } catch {
                let failure = CommandError(error)
                guard [.conflict, .refused, .notFound, .failure].contains(failure.status) else { throw error }
                report.failed += 1
                bar.finish()
                complain(id, failure)
            }
            bar.update("Settling", fraction: nil, "\(Quantity.of(report.settled, "conflict")) settled")
            return true
        }
        return report
    }

    private func complain(_ id: DocumentID, _ error: any Error) {
        let failure = CommandError(error)
        console.complain(
            "\(id): \(failure.message)",
            json: ["id": .string(id.string), "error": .string(failure.code), "message": .string(failure.message)])
    }

    private func summary(_ report: Report, _ elapsed: Duration) -> String {
        var text = "Settled \(Quantity.of(report.settled, "conflict")) by \(policy) in \(Quantity.duration(elapsed))"
        text += ", \(Quantity.of(report.revisionsWritten, "revision")) written"
        for (count, what) in [(report.left, "left in conflict"), (report.gone, "gone"), (report.failed, "failed")]
        where count > 0 {
            text += "; \(Quantity.grouped(count)) \(what)"
        }
        if report.races > 0 { text += "; \(Quantity.grouped(report.races)) had racing answers" }
        return text
    }

    private func json(_ report: Report, _ elapsed: Duration) -> JSONValue {
        [
            "ok": .bool(report.failed == 0), "settled": .number(JSONNumber(report.settled)),
            "left": .number(JSONNumber(report.left)), "gone": .number(JSONNumber(report.gone)),
            "failed": .number(JSONNumber(report.failed)), "written": .number(JSONNumber(report.revisionsWritten)),
            "races": .number(JSONNumber(report.races)),
            "seconds": JSONNumber(Quantity.seconds(elapsed)).map(JSONValue.number) ?? .null,
        ]
    }

    /// Shows the result that would be written, a line for each document.
    private func preview(_ client: Client) throws -> ExitStatus {
        Interruption.watch()
        var (settled, left, failed) = (0, 0, 0)
        try client.forEachConflict(ConflictKind.allCases.filter(policy.kinds.contains)) { state in
            do {
                guard let preview = try state.preview(using: policy) else { return true }
                if preview.plan.survivor == nil { left += 1 } else { settled += 1 }
                try show(preview)
            } catch let error as DatabaseError where CommandError(error).status != .inputOutput {
                failed += 1
                complain(state.id, error)
            }
            return true
        }
        try console.note(
            """
            \(policy) would settle \(Quantity.of(settled, "conflict")) and leave \(Quantity.grouped(left)); \
            nothing was written
            """)
        return failed > 0 ? .failure : .success
    }

    private func show(_ preview: SettlementPreview) throws {
        let conflict = preview.conflict
        if console.isJSON {
            let members =
                ConflictJSON.members(of: conflict, withDocuments: false) + ConflictJSON.members(of: preview, policy)
            return try console.print(JSONValue.object(JSONObject(members)).description)
        }
        let reason = preview.decision.map { conflict.abbreviating($0.reason) } ?? "racing answers are merged"
        let outcome = preview.plan.survivor.map { "→ \($0.abbreviated)" } ?? console.styled("left", .red)
        try console.print(
            "\(Columns.padded(conflict.documentID.string))  \(outcome)  \(console.styled(reason, .faint))")
    }
}
