internal import Settle
import SettleDatabase
import SettleServer

/// Settles all conflicts of a database by a policy, and reports the outcomes.
struct SettlingAll {
    let order: SettlementOrder
    let console: Console

    private var policy: ConflictPolicy { order.policy }

    /// Settles them, or shows the result if `--dry-run` was given.
    func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.withClient(warns: false) { client in
            let bar = ProgressBar(console)
            try PolicyOptions.refuseSides(policy, at: client)
            if invocation.arguments.flag("--dry-run") { return try preview(client) }
            let report = try settlePages(client, bar) ?? settle(client, bar)
            if console.isJSON {
                try console.print(json(report, bar.elapsed).description)
            } else {
                try console.printNote(summary(report, bar.elapsed))
            }
            return report.failed > 0 ? .failure : .success
        }
    }

    /// Has the server settle its conflicts; `nil` if it does not, or not for this user.
    private func settlePages(_ client: Client, _ bar: ProgressBar) throws -> SettlementReport? {
        defer { bar.finish() }
        return try client.settlePages(by: order) { report, failures in
            if !failures.isEmpty { bar.finish() }
            for (id, error) in failures { complain(id, client.failure(about: id).explained(error)) }
            show(report, bar)
        }
    }

    /// Settles the conflicts one document after another.
    private func settle(_ client: Client, _ bar: ProgressBar) throws -> SettlementReport {
        var report = SettlementReport()
        defer { bar.finish() }
        try client.forEachConflict(ConflictKind.allCases.filter(policy.kinds.contains)) { state in
            let id = state.id
            do {
                report.add(try client.settle(&state, using: policy))
            } catch {
                let failure = CommandError(error)
                guard [.conflict, .refused, .notFound, .failure].contains(failure.status) else { throw error }
                report.addFailure()
                bar.finish()
                complain(id, failure)
            }
            show(report, bar)
            return true
        }
        return report
    }

    private func show(_ report: SettlementReport, _ bar: ProgressBar) {
        bar.update("Settling", fraction: nil, "\(Quantity.of(report.settled, "conflict")) settled")
    }

    private func complain(_ id: DocumentID, _ error: any Error) {
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

    private func json(_ report: SettlementReport, _ elapsed: Duration) -> JSONValue {
        var answer: JSONObject = ["ok": .bool(report.failed == 0)]
        for member in SettlementJSON.report(report) { answer[member.name] = member.value }
        answer["seconds"] = JSONNumber(Quantity.seconds(elapsed)).map(JSONValue.number) ?? .null
        return .object(answer)
    }

    /// Shows the result that would be written, a line for each document.
    private func preview(_ client: Client) throws -> ExitStatus {
        Interruption.watch()
        var (settled, deleted, left, failed) = (0, 0, 0, 0)
        try client.forEachConflict(ConflictKind.allCases.filter(policy.kinds.contains)) { state in
            do {
                guard let preview = try state.preview(using: policy) else { return true }
                let effect = SettlementEffect(preview)
                if preview.plan.survivor == nil { left += 1 } else { settled += 1 }
                if effect.outcome == .deletes { deleted += 1 }
                try show(preview, effect)
            } catch let error as DatabaseError where CommandError(error).status != .inputOutput {
                failed += 1
                complain(state.id, error)
            }
            return true
        }
        let deletions = deleted == 0 ? "" : ", \(Quantity.grouped(deleted)) of them by deleting the document,"
        try console.printNote(
            """
            \(policy) would settle \(Quantity.of(settled, "conflict"))\(deletions) and leave \(Quantity.grouped(left)); \
            nothing was written
            """)
        return failed > 0 ? .failure : .success
    }

    private func show(_ preview: SettlementPreview, _ effect: SettlementEffect) throws {
        let conflict = preview.conflict
        if console.isJSON {
            let members =
                ConflictJSON.members(of: conflict, withDocuments: false) + ConflictJSON.members(of: preview, policy)
            return try console.print(JSONValue.object(JSONObject(members)).description)
        }
        let reason = preview.decision.map { conflict.abbreviating($0.reason) } ?? "racing answers are merged"
        let survivor = preview.plan.survivor.map { "→ \($0.abbreviated)" } ?? console.styled("left", .red)
        let outcome = effect.outcome == .deletes ? "\(survivor)  \(console.styled("deletes it", .red))" : survivor
        let lost = effect.lossCount == 0 ? "" : "; lost: \(Quantity.of(effect.lossCount, "change"))"
        try console.print(
            "\(Columns.padded(conflict.documentID.string))  \(outcome)  \(console.styled(reason + lost, .faint))")
    }
}
