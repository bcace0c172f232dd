public import SettleCore

extension ConflictPolicy {
    /// A three-way merge, member by member, on the common ancestor.
    ///
    ///     base    {"name": "Milk", "count": 1, "note": "?"}
    ///     winner  {"name": "Milk", "count": 3}                     count changed, note removed
    ///     other   {"name": "Oat milk", "count": 1, "note": "?"}    name changed
    ///     result  {"name": "Oat milk", "count": 3}
    ///
    /// A change on one side is taken, and so is an equal change on several sides, removals included; objects are merged
    /// recursively. Different changes clash, and a rule for that member decides: the winner's value unless the rules
    /// say otherwise. Attachments are merged like members, under `/_attachments`. With more than two branches, those
    /// with the newest common ancestor are merged first.
    ///
    /// A replica that does not have the content of the base leaves the conflict to one that has; it never guesses. Only
    /// documents that were created independently, under the same id, have the empty document as base.
    ///
    /// - Parameters:
    ///   - rules: How clashes are decided.
    ///   - deletionsWin: Whether a user's deletion wins over a live leaf; otherwise the live leaf stays, as in CouchDB.
    /// - Returns: The policy.
    public static func threeWayMerge(_ rules: MergeRules = MergeRules(), deletionsWin: Bool = false) -> ConflictPolicy {
        let merge = ConflictPolicy(
            "threeWayMerge", kinds: [.branches], details: rules.details,
            .now { BranchMerge($0, .threeWay(rules)).decision() })
        return deletionsWin ? .deletesWin(otherwise: merge) : merge
    }

    /// A three-way merge with one rule for all clashes.
    public static func threeWayMerge(onClash rule: MergeRule) -> ConflictPolicy {
        threeWayMerge(MergeRules(onClash: rule))
    }
}

extension MergeRules {
    /// The rules in words; empty for the default ones.
    fileprivate var details: String {
        let all = [onClash.details] + paths.map { path in "\(path): \(self[path]?.kind.description ?? "")" }
        return all.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension MergeRule {
    /// The rule in words; empty for the default one.
    var details: String { kind == .winner ? "" : kind.description }
}
