/// Merges concurrent versions of a document member by member: the latest change wins.
///
///     John    {"name": "Holiday 2015" @1,    "budget": 50 @3}
///     Marie   {"name": "Family Holidays" @2, "budget": 40 @0}
///             ──────────────────────────────
///     merged  {"name": "Family Holidays" @2, "budget": 50 @3}
///
/// Changes of different members never conflict, and of one member the latest is kept (SEMANTICS 157); a removal is a
/// change like any other. For each path, from the document down:
///
///     all versions are equal there ──────────────────────────────→ it stays
///     they are objects, none written as a whole ─────────────────→ the same again, inside
///     every change there has a known clock ──────────────────────→ the latest, with newer changes inside of it
///     else, a foreign edit changed it ───────────────────┬─ base ─→ as a three-way merge has it (K10)
///                                                        └─ none → no outcome
///
/// So where every change was stamped, the base is not needed, and the outcome is that of all changes in the order of
/// their clocks: merging is commutative, associative and idempotent. A three-way merge of a member keeps the clock of the
/// value it takes, if there is one; otherwise the time of the member's change stays unknown.
///
/// The outcome depends only on the arguments (SEMANTICS 83): clocks are compared, none is read. Ties between equal
/// clocks with different values, which a restored backup may cause, are broken by the value (158).
public enum LatestFieldMerge {
    /// Merges two or more versions of a document.
    ///
    /// Members are in the order of the first version, followed by those of the others.
    ///
    /// - Parameters:
    ///   - versions: The versions with their clocks, see ``ClockedDocument``; the CouchDB winner first.
    ///   - base: The common ancestor, with or without clocks; `nil` if it is unavailable.
    ///   - onClash: Decides where several versions changed a member differently at unknown times. If a rule does not fit,
    ///     ``MergeRule/winner`` applies.
    /// - Returns: The merged document with its clocks, or none if a clash was left, and the decisions; `nil` if the base is
    ///   needed. If the outcome equals one of the versions, it is that version, byte for byte.
    /// - Complexity: O(*n* log *n* · *v*) for *n* bytes in all and *v* versions.
    public static func merge(
        _ versions: [JSONObject], base: JSONObject?, onClash: MergeRule = .winner
    ) -> MergeOutcome? {
        let documents = versions.map { ClockedDocument($0) }
        var base = base
        base?[ClockedDocument.memberName] = nil
        var merger = LatestFieldMerger(documents, base: base, onClash: onClash)
        guard let root = merger.merge(documents.map(\.root), base: base.map(JSONValue.object), at: .root) else {
            return merger.lacksBase ? nil : MergeOutcome(merged: nil, decisions: merger.decisions)
        }
        let merged = ClockedDocument(root: root).document
        let same = zip(versions, documents).first { version, document in
            document.members.hasSameMembers(as: root.value?.object ?? JSONObject())
                && version[ClockedDocument.memberName] == merged[ClockedDocument.memberName]
        }
        return MergeOutcome(merged: same?.0 ?? merged, decisions: merger.decisions)
    }
}
