internal import Settle

/// Conflicts and policies' decisions as JSON.
enum ConflictJSON {
    /// The leaves of a conflict, with the changes of each, and their documents if wanted.
    static func members(of conflict: Conflict, withDocuments: Bool) -> [(String, JSONValue)] {
        let kind = conflict.kind == .branches ? "branches" : "deletion"
        var members: [(String, JSONValue)] = [("id", .string(conflict.documentID.string)), ("kind", .string(kind))]
        if let base = conflict.base {
            members.append(("base", withDocuments ? document(base) : revision(base.revision)))
        } else {
            members.append(("base", .null))
        }
        let leaves = conflict.leaves.map { leaf -> JSONValue in
            var row: JSONValue = ["rev": revision(leaf.revision), "deleted": .bool(leaf.isDeleted)]
            if let side = conflict.side(of: leaf) { row["side"] = .string(side) }
            if let base = conflict.base, !leaf.isDeleted {
                row["differs"] = .array(MemberDifference.between(base, leaf).map { .string($0.path) })
            }
            if withDocuments { row["doc"] = document(leaf) }
            return row
        }
        return members + [("leaves", .array(leaves))]
    }

    /// A policy's decision.
    static func members(of preview: SettlementPreview, _ policy: ConflictPolicy) -> [(String, JSONValue)] {
        let writes = preview.plan.writes.map { write -> JSONValue in
            [
                "rev": .string(write.revision.description), "parent": .string(write.parent.description),
                "deleted": .bool(write.isDeleted), "body": write.body.json,
            ]
        }
        return [
            ("policy", .string(policy.description)), ("decision", preview.decision.map(decision) ?? .null),
            ("survivor", revision(preview.plan.survivor)), ("writes", .array(writes)),
        ]
    }

    private static func decision(_ decision: PolicyDecision) -> JSONValue {
        let resolution =
            switch decision.resolution {
            case .keep: "keep"
            case .merged, .document: "merged"
            case .delete: "delete"
            case .leaveConflicted: "leave"
            }
        return [
            "resolution": .string(resolution), "reason": .string(decision.reason),
            "members": .array(decision.fields.map(member)),
        ]
    }

    /// A missing value is left out, because `null` is a value.
    private static func member(_ decision: FieldDecision) -> JSONValue {
        var row: JSONValue = ["path": .string(decision.path)]
        row["base"] = decision.base
        row["sides"] = .array(
            decision.sides.map { side in
                var row: JSONValue = ["name": .string(side.name)]
                row["value"] = side.value
                return row
            })
        row["result"] = decision.result
        row["reason"] = .string(decision.reason)
        row["clash"] = .bool(decision.isClash)
        row["left"] = .bool(decision.isLeft)
        return row
    }

    /// The outcome of a conflict.
    static func settlement(_ settlement: Settlement) -> JSONValue {
        [
            "ok": true, "id": .string(settlement.documentID.string), "outcome": .string(settlement.outcome.rawValue),
            "rev": revision(settlement.survivor), "written": .array(settlement.written.map(revision)),
            "superseded": .array(settlement.superseded.map(revision)),
            "reason": settlement.decision.map { .string($0.reason) } ?? .null,
            "warnings": .array(settlement.warnings.map(JSONValue.string)),
        ]
    }

    /// The outcome without a conflict.
    static func nothing(_ id: DocumentID) -> JSONValue {
        [
            "ok": true, "id": .string(id.string), "outcome": "nothing", "rev": .null, "written": [], "superseded": [],
            "reason": .null, "warnings": [],
        ]
    }

    /// A revision, or `null` for `nil`.
    static func revision(_ revision: RevisionID?) -> JSONValue { revision.map { .string($0.description) } ?? .null }

    /// A document in CouchDB's form.
    static func document(_ document: Document) -> JSONValue {
        (try? JSONValue(utf8: DocumentJSON(document).bytes)) ?? .null
    }
}
