package import SettleCore
package import SettleDatabase

/// The outcomes of settling, as the server and `settle resolve --json` print them.
package enum SettlementJSON {
    /// The outcome of a conflict.
    package static func settlement(_ settlement: Settlement) -> JSONValue {
        [
            "ok": true, "id": .string(settlement.documentID.string), "outcome": .string(settlement.outcome.rawValue),
            "rev": revision(settlement.survivor), "written": .array(settlement.written.map(revision)),
            "superseded": .array(settlement.superseded.map(revision)),
            "reason": settlement.decision.map { .string($0.reason) } ?? .null,
            "warnings": .array(settlement.warnings.map(JSONValue.string)),
        ]
    }

    /// The counts of many outcomes, as `settle resolve --all --json` and a page of `_settle` count it.
    package static func report(_ report: SettlementReport) -> JSONObject {
        JSONObject(report.counts.map { ($0.name, .number(JSONNumber($0.count))) })
    }

    /// Adds the counts of such an answer.
    package static func add(_ answer: JSONValue, to report: inout SettlementReport) {
        report.add { answer[$0]?.int ?? 0 }
    }

    /// How many documents are in conflict, by kind.
    package static func counts(branches: Int, deletions: Int) -> JSONValue {
        ["branches": .number(JSONNumber(branches)), "deletions": .number(JSONNumber(deletions))]
    }

    /// The outcome without a conflict.
    package static func nothing(_ id: DocumentID) -> JSONValue { settlement(Settlement(id, .nothing)) }

    /// The ready policies and rules, each with a sentence for people.
    static let policies: JSONValue = [
        "default": .string(ReadyPolicy.defaultName),
        "policies": .array(
            ReadyPolicy.all.map { policy in
                [
                    "name": .string(policy.name), "summary": .string(policy.summary),
                    "options": .array(policy.options.map { .string($0.rawValue) }),
                    "decides": .array(
                        policy.decides.map { .string(kind($0)) }.sorted { $0.description < $1.description }),
                ]
            }),
        "rules": .array(ReadyRule.all.map { ["name": .string($0.name), "summary": .string($0.summary)] }),
    ]

    /// A revision, or `null` for `nil`.
    package static func revision(_ revision: RevisionID?) -> JSONValue {
        revision.map { .string($0.description) } ?? .null
    }

    /// The name of a kind of conflict.
    package static func kind(_ kind: ConflictKind) -> String { kind == .branches ? "branches" : "deletion" }

    /// The name of a kind of conflict where many are asked for.
    package static func kinds(_ kind: ConflictKind) -> String { kind == .branches ? "branches" : "deletions" }

    /// A policy's decision, with the decisions about members in a form of the caller's.
    package static func decision(_ decision: PolicyDecision, _ member: (AttributeDecision) -> JSONValue) -> JSONValue {
        let resolution =
            switch decision.resolution {
            case .keep: "keep"
            case .merged, .document: "merged"
            case .delete: "delete"
            case .leaveConflicted: "leave"
            }
        return [
            "resolution": .string(resolution), "reason": .string(decision.reason),
            "members": .array(decision.attributes.map(member)),
        ]
    }

    /// A decision about a member. A missing value is left out, because `null` is a value. The revision of a side is called `name`
    /// or `rev`, as the source says.
    package static func member(_ decision: AttributeDecision, source: String) -> JSONValue {
        var row: JSONValue = ["path": .string(decision.path)]
        row["base"] = decision.base
        row["sides"] = .array(
            decision.sides.map { side in
                var row: JSONValue = [source: .string(side.name)]
                row["value"] = side.value
                return row
            })
        row["result"] = decision.result
        row["reason"] = .string(decision.reason)
        row["clash"] = .bool(decision.isClash)
        row["left"] = .bool(decision.isLeft)
        return row
    }
}
