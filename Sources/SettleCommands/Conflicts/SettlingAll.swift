internal import Settle

/// Settles all conflicts of a database by a policy, and tells what became of them.
struct SettlingAll {
    let policy: ConflictPolicy
    let console: Console

    /// Settles them, or shows what that would write if `--dry-run` was given.
    func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.withDatabase(warns: false) { database in
            let bar = ProgressBar(console)
            if invocation.arguments.flag("--dry-run") { return try preview(database, bar) }
            let report = try bar.watch("Settling") { try database.settleAll(using: policy, progress: $0) }
            for failure in report.failures { complain(failure.documentID, failure.error) }
            if console.isJSON {
                try console.print(json(report, bar.elapsed).description)
            } else {
                let hidden = report.failed - report.failures.count
                if hidden > 0 { console.complain("… and \(Quantity.grouped(hidden)) more", json: .null) }
                try console.note(summary(report, bar.elapsed))
            }
            return report.failed > 0 ? .failure : .success
        }
    }

    private func complain(_ id: DocumentID, _ error: DatabaseError) {
        let failure = CommandError(error)
        console.complain(
            "\(id): \(failure.message)",
            json: ["id": .string(id.string), "error": .string(failure.code), "message": .string(failure.message)])
    }

    private func summary(_ report: SettlementReport, _ elapsed: Duration) -> String {
        var text = "Settled \(Quantity.of(report.settled, "conflict")) by \(policy) in \(Quantity.duration(elapsed))"
        text += ", \(Quantity.of(report.revisionsWritten, "revision")) written"
        for (count, what) in [(report.left, "left in conflict"), (report.gone, "gone"), (report.failed, "failed")]
        where count > 0 {
            text += "; \(Quantity.grouped(count)) \(what)"
        }
        if report.races > 0 { text += "; \(Quantity.grouped(report.races)) had racing answers" }
        return text
    }

    private func json(_ report: SettlementReport, _ elapsed: Duration) -> JSON {
        [
            "ok": .bool(report.failed == 0), "settled": .number(JSONNumber(report.settled)),
            "left": .number(JSONNumber(report.left)), "gone": .number(JSONNumber(report.gone)),
            "failed": .number(JSONNumber(report.failed)), "written": .number(JSONNumber(report.revisionsWritten)),
            "races": .number(JSONNumber(report.races)),
            "seconds": JSONNumber(Quantity.seconds(elapsed)).map(JSON.number) ?? .null,
        ]
    }

    /// Shows what would be written, a line for each document.
    private func preview(_ database: Database, _ bar: ProgressBar) throws -> ExitStatus {
        Interruption.watch()
        var (settled, left, failed) = (0, 0, 0)
        for kind in ConflictKind.allCases where policy.kinds.contains(kind) {
            var last: DocumentID?
            while case let page = try database.conflictedDocumentIDs(kind, after: last, limit: 500),
                let newest = page.last
            {
                for id in page {
                    try Interruption.check()
                    do {
                        guard let preview = try database.preview(id, using: policy) else { continue }
                        if preview.plan.survivor == nil { left += 1 } else { settled += 1 }
                        try show(preview)
                    } catch let error as DatabaseError where CommandError(error).status != .inputOutput {
                        failed += 1
                        complain(id, error)
                    }
                }
                last = newest
            }
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
            return try console.print(JSON.object(JSONObject(members)).description)
        }
        let reason = preview.decision.map { conflict.abbreviating($0.reason) } ?? "racing answers become one"
        let outcome = preview.plan.survivor.map { "→ \($0.abbreviated)" } ?? console.styled("left", .red)
        try console.print(
            "\(Columns.padded(conflict.documentID.string))  \(outcome)  \(console.styled(reason, .faint))")
    }
}
