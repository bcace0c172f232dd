internal import SettleCore
internal import SettleDatabase

/// What a dry run of a settlement answers.
struct RehearsalAnswer {
    let request: SettleRequest
    let database: Database
    let preview: SettlementPreview
    let refusals: [PlannedSettlement.Refusal]

    /// Bodies up to this size in all are part of the answer.
    private static let mostBytes = 16 << 20

    /// The answer.
    func json() throws -> JSONValue {
        var settlement = Settlement(preview.conflict.documentID, .nothing)
        settlement.add(preview, by: request.policy)
        let isLeft = preview.plan.survivor == nil
        var left = Self.mostBytes
        return [
            "ok": true, "id": .string(preview.conflict.documentID.string), "dry_run": true,
            "outcome": isLeft ? "left" : "settled", "rev": SettlementJSON.revision(preview.plan.survivor),
            "policy": .string(request.policy.name),
            "decision": preview.decision.map { decision in
                SettlementJSON.decision(decision) { field in
                    var row = SettlementJSON.member(field, source: "rev")
                    row["picked"] = .bool(request.picked.contains(field.path))
                    return row
                }
            } ?? .null,
            "writes": .array(try preview.plan.writes.map { try write($0, &left) }),
            "refused": .array(
                refusals.map { refusal in
                    [
                        "rev": .string(refusal.revision.description), "error": .string(refusal.error.error),
                        "reason": .string(refusal.error.reason),
                    ]
                }),
            "warnings": .array(settlement.warnings.map(JSONValue.string)),
        ]
    }

    private func write(_ write: SettlementPlan.Write, _ left: inout Int) throws -> JSONValue {
        var row: JSONValue = [
            "rev": .string(write.revision.description), "parent": .string(write.parent.description),
            "deleted": .bool(write.isDeleted),
        ]
        left -= write.body.utf8.count
        guard left > 0 else {
            row["omitted"] = true
            return row
        }
        var members = write.body.json.object ?? JSONObject()
        if !write.attachments.isEmpty {
            members["_attachments"] = .object(
                JSONObject(
                    write.attachments.map { attachment in
                        (
                            attachment.name,
                            [
                                "content_type": .string(attachment.contentType),
                                "digest": .string(attachment.digest.description),
                                "length": .number(JSONNumber(attachment.length)), "stub": true,
                            ]
                        )
                    }))
        }
        row["doc"] = .object(members)
        return row
    }
}
