/// Merges versions of a document that were edited apart, member by member, by when each was changed: the later wins.
///
///     John    {"name": "Holiday 2015" @1,    "budget": 50 @3}
///     Marie   {"name": "Family Holidays" @2, "budget": 40 @0}
///             ──────────────────────────────
///     merged  {"name": "Family Holidays" @2, "budget": 50 @3}
///
/// Changes of different members never stand against each other, and of one member the latest stays (SEMANTICS 157); a
/// removal is a change like any other. For each path, from the document down:
///
///     all versions are the same there ───────────────────────────→ it stays
///     they are objects, none written as a whole ─────────────────→ the same again, inside
///     of all it is known when they were changed ─────────────────→ the latest; what is newer inside of it stays, too
///     else, for somebody changed it who knows no clocks ─┬─ base ─→ as a three-way merge has it (K10)
///                                                        └─ none → no outcome
///
/// So where every change was stamped, nobody has to know what the versions started from, and the outcome is that of all
/// changes in the order of their clocks: merging is commutative, associative and idempotent. A three-way merge of a member
/// keeps the clock of the value it takes, if there is one; else the member stays one whose moment is not known.
///
/// The outcome depends on nothing but what is given (SEMANTICS 83): clocks are compared, none is read. Versions with equal
/// clocks and different values, as a restored backup may make them, are told apart by the value (158).
public enum LatestAttributeMerge {
    /// Merges two or more versions of a document.
    ///
    /// Members stand in the order of the first version, then of the others.
    ///
    /// - Parameters:
    ///   - versions: The versions with their clocks, see ``ClockedDocument``; the CouchDB winner first.
    ///   - base: What all versions started from, with or without clocks; `nil` when that is not at hand.
    ///   - onClash: What decides where several changed a member differently and it is not known when. A rule that does not
    ///     fit gives way to ``MergeRule/winner``.
    /// - Returns: The merged document with its clocks, or none if a clash was left, and what was decided; `nil` when it can't
    ///   be told without the base. If one of the versions says just this, the outcome is that version, byte for byte.
    /// - Complexity: O(*n* log *n* · *v*) for *n* bytes in all and *v* versions.
    public static func merge(
        _ versions: [JSONObject], base: JSONObject?, onClash: MergeRule = .winner
    ) -> MergeOutcome? {
        let documents = versions.map { ClockedDocument($0) }
        var base = base
        base?[ClockedDocument.memberName] = nil
        var merger = LatestAttributeMerger(documents, base: base, onClash: onClash)
        guard let root = merger.merge(documents.map(\.root), base: base.map(JSON.object), at: .root) else {
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
