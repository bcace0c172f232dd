public import RevisionTree

extension ConflictPolicy {
    /// The latest change of each member wins, and an edit wins over a deletion: ``latestAttributeWins(onClash:deletions:)``
    /// with its defaults.
    public static let latestAttributeWins = latestAttributeWins()

    /// The latest change of each member wins, by the clocks that databases with ``DatabaseOptions/attributeClocks`` keep in
    /// documents.
    ///
    ///     John    {"name": "Holiday 2015" @1,    "budget": 50 @3}
    ///     Marie   {"name": "Family Holidays" @2, "budget": 40 @0}
    ///     result  {"name": "Family Holidays" @2, "budget": 50 @3}
    ///
    /// Changes of different members never stand against each other (SEMANTICS 157). A member that was changed by software
    /// which knows no clocks, or before clocks were switched on, is merged three-way instead, as by
    /// ``threeWayMerge(_:deletionsWin:)``; so are attachments. Only that takes the revision where the branches part, and a
    /// replica that does not have its content leaves such a conflict to one that has. See
    /// ``LatestAttributeMerge`` for the rules.
    ///
    /// Every replica writes the same: no clock is read to settle a conflict.
    ///
    /// - Parameters:
    ///   - rule: What decides a clash over a member of which it is not known when it was changed; the winner's value unless
    ///     given.
    ///   - deletions: What becomes of a document that was deleted here and edited there;
    ///     ``DeletionRule/editRevives`` unless given.
    /// - Returns: The policy.
    public static func latestAttributeWins(
        onClash rule: MergeRule = .winner, deletions: DeletionRule = .editRevives
    ) -> ConflictPolicy {
        let merge = ConflictPolicy(
            "latestAttributeWins", kinds: [.branches],
            .now { conflict in
                BranchMerge(conflict, .latestAttribute(onClash: rule)).decision()
            })
        return switch deletions {
        case .editRevives: merge
        case .deletionWins: .deletesWin(otherwise: merge)
        case .latestWins:
            ConflictPolicy(
                "latestAttributeWins, deletions too",
                .now { conflict in
                    try latest(conflict) ?? merge.decideNow(conflict)
                })
        }
    }

    /// What stays where a deletion is concerned; `nil` when only live leaves are left to merge.
    private static func latest(_ conflict: Conflict) -> PolicyDecision? {
        guard !conflict.deletions.isEmpty else { return nil }
        func newest(_ leaf: Document) -> AttributeClock? {
            ClockedDocument(leaf.json.object ?? JSONObject(), isDeleted: leaf.isDeleted).newest
        }
        let deletions = conflict.deletions.compactMap { leaf in
            newest(leaf).flatMap { moment in leaf.revision.map { (moment: moment, revision: $0) } }
        }
        let edit = conflict.liveLeaves.compactMap(newest).max()
        if let deletion = deletions.max(by: { $0 < $1 }), edit.map({ $0 < deletion.moment }) ?? true {
            return PolicyDecision(
                .keep(deletion.revision), reason: "\(deletion.revision) stays: the deletion came last")
        }
        guard conflict.liveLeaves.count == 1, let live = conflict.winner.revision else { return nil }
        return PolicyDecision(.keep(live), reason: "\(live) stays: no deletion is known to have come after it")
    }
}
