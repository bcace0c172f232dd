/// Merges concurrently edited versions of a JSON object, based on the changes of each version.
///
///     base      {"name": "Milk", "stock": 5, "note": "low fat"}
///     winner    {"name": "Milk", "stock": 6}                            note removed, one added
///     other     {"name": "Oat milk", "stock": 8, "note": "low fat"}     renamed, three added
///               ──────────────────────────────
///     merged    {"name": "Oat milk", "stock": 9}                        with the rule `.sum` for `/stock`
///
/// For each member:
///
///     no version changed it ─────────────────────→ unchanged
///     one changed it, or several alike ──────────→ that change
///     several changed it, and differently ─┬─ it has a rule that fits ───→ the rule
///                                          ├─ all of them are objects ───→ the same again, inside
///                                          └─ else a clash ──────────────→ `onClash`
///
/// A removal is a change like any other, so a member that one version has removed and no other has changed stays
/// removed (SEMANTICS 58). Values are compared like ``JSONValue``: `1` and `1.0` differ, as they do in CouchDB's
/// revision ids; `1.0` and `1e0` do not. Reordering members is a change too, but is overridden by a version with
/// the same members in another order. Arrays are one value unless a rule says otherwise.
///
/// The outcome depends only on the arguments (SEMANTICS 83). The order of versions determines which one `winner`
/// takes, and the order of members and additions. Merging equal versions changes nothing.
public enum ThreeWayMerge {
    /// Merges two or more versions of an object.
    ///
    /// Members are in the order of the first version, followed by the other versions' members.
    ///
    /// - Parameters:
    ///   - base: The common ancestor of all versions.
    ///   - versions: The versions, the CouchDB winner first. The outcome of one version is that version; of no
    ///     version, the base.
    ///   - rules: The rules for clashes.
    /// - Returns: The merged object, or `nil` if a clash was left, and the decisions.
    /// - Complexity: O(*n* · *v*) for *n* bytes in all and *v* versions that differ; arrays inside of arrays that are
    ///   merged by identity are read once per level, and each decision spells its path. For ``MergeRule/lines`` see
    ///   there.
    public static func merge(
        base: JSONObject, versions: [JSONObject], rules: MergeRules = MergeRules()
    ) -> MergeOutcome {
        let document = MergeMember([.object(base)] + versions.map(JSONValue.object), at: .root)
        guard let first = document.changed.first else {
            return MergeOutcome(merged: versions.first ?? base, decisions: [])
        }
        var merger = Merger(rules: rules, repeats: document.repeats)
        let merged = merger.mergeInside(document).value?.object
        let kept = document.isClash ? merged.flatMap { like($0, in: versions) } : versions[first]
        return MergeOutcome(merged: kept ?? merged, decisions: merger.decisions)
    }

    /// The first version that is equal to an object, otherwise the first with the same members.
    private static func like(_ object: JSONObject, in versions: [JSONObject]) -> JSONObject? {
        versions.first { $0 == object } ?? versions.first { $0.hasSameMembers(as: object) }
    }
}

extension JSONObject {
    /// Whether both have the same members in any order, including objects inside of objects; arrays are compared as
    /// a whole.
    func hasSameMembers(as other: JSONObject) -> Bool {
        count == other.count
            && allSatisfy { member in
                guard let value = other[member.name] else { return false }
                guard let mine = member.value.object, let theirs = value.object else { return member.value == value }
                return mine.hasSameMembers(as: theirs)
            }
    }
}

/// The outcome of a three-way merge.
public struct MergeOutcome: Hashable, Sendable {
    /// The merged object; `nil` if a clash was left undecided.
    ///
    /// If a version has exactly these members, this is the first such version, byte for byte.
    public let merged: JSONObject?
    /// One decision for each changed member; the decision about an object precedes those about its members.
    public let decisions: [MergeDecision]

    /// The paths of the members that were left undecided.
    public var left: [String] { decisions.filter(\.reason.isLeft).map(\.path) }
}
