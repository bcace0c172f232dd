internal import Settle
import SettleCore
import SettleDatabase
import SettleServer

/// Conflicts and policies' decisions as JSON of the command line.
enum ConflictJSON {
    /// The leaves of a conflict, with the changes of each, and their documents if wanted.
    static func members(of conflict: Conflict, withDocuments: Bool) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("id", .string(conflict.documentID.string)), ("kind", .string(SettlementJSON.kind(conflict.kind))),
        ]
        if let base = conflict.base {
            members.append(("base", withDocuments ? document(base) : SettlementJSON.revision(base.revision)))
        } else {
            members.append(("base", .null))
        }
        let leaves = conflict.leaves.map { leaf -> JSONValue in
            var row: JSONValue = ["rev": SettlementJSON.revision(leaf.revision), "deleted": .bool(leaf.isDeleted)]
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
        var room = SettlementJSON.effectBytes
        return [
            ("policy", .string(policy.description)),
            (
                "decision",
                preview.decision.map { decision in
                    SettlementJSON.decision(decision) { SettlementJSON.member($0, source: "name") }
                } ?? .null
            ),
            ("effect", SettlementJSON.effect(SettlementEffect(preview), within: &room)),
            ("survivor", SettlementJSON.revision(preview.plan.survivor)), ("writes", .array(writes)),
        ]
    }

    /// A document in CouchDB's form.
    static func document(_ document: Document) -> JSONValue {
        (try? JSONValue(utf8: document.wire.bytes(.bodyLate))) ?? .null
    }
}
