internal import SettleCore
internal import SettleDatabase

/// What became of a page of conflicts.
struct SettledPage {
    private var rows: [JSONValue] = []
    private var (settled, left, gone, failed, written, races) = (0, 0, 0, 0, 0, 0)

    /// Adds a settlement.
    mutating func add(_ settlement: Settlement) {
        add(
            settlement.documentID, settlement.outcome, settlement.survivor, settlement.written.count,
            settlement.decision)
        if !settlement.racingAnswers.isEmpty { races += 1 }
    }

    /// Adds a rehearsal; `nil` for a document that is in no conflict any more.
    mutating func add(
        _ rehearsal: (preview: SettlementPreview, refusals: [PlannedSettlement.Refusal])?, _ id: DocumentID
    ) {
        guard let (preview, refusals) = rehearsal else { return add(id, .nothing, nil, 0, nil) }
        if let refusal = refusals.first { return add(refusal.error, id) }
        let survivor = preview.plan.survivor
        add(id, survivor == nil ? .left : .settled, survivor, preview.plan.writes.count, preview.decision)
        if preview.decision == nil { races += 1 }
    }

    /// Adds a failure.
    mutating func add(_ error: HTTPError, _ id: DocumentID) {
        failed += 1
        rows.append(["id": .string(id.string), "error": .string(error.error), "reason": .string(error.reason)])
    }

    private mutating func add(
        _ id: DocumentID, _ outcome: Settlement.Outcome, _ survivor: RevisionID?, _ count: Int,
        _ decision: PolicyDecision?
    ) {
        switch outcome {
        case .settled: settled += 1
        case .left: left += 1
        case .nothing: gone += 1
        }
        written += count
        rows.append([
            "id": .string(id.string), "ok": true, "outcome": .string(outcome.rawValue),
            "rev": SettlementJSON.revision(survivor), "written": .number(JSONNumber(count)),
            "clashes": .array(decision?.fields.filter(\.isClash).map { .string($0.path) } ?? []),
        ])
    }

    /// The answer. `next` is the document at which the caller continues; `nil` after the last page.
    func json(next: DocumentID?) -> JSONValue {
        func number(_ count: Int) -> JSONValue { .number(JSONNumber(count)) }
        return [
            "rows": .array(rows), "settled": number(settled), "left": number(left), "gone": number(gone),
            "failed": number(failed), "written": number(written), "races": number(races),
            "next_startkey": next.map { .string($0.string) } ?? .null,
        ]
    }
}
