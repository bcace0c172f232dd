public import SettleCore

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
    /// Changes of different members never conflict (SEMANTICS 157). A member that was changed by software without
    /// clocks, or before clocks were switched on, is merged three-way instead, as by
    /// ``threeWayMerge(_:deletionsWin:)``; so are attachments. Only this needs the merge base. A replica without
    /// the base's content leaves such a conflict to a replica that has it. See ``LatestAttributeMerge`` for the rules.
    ///
    /// Every replica writes the same revisions, because no clock is read to settle a conflict.
    ///
    /// - Parameters:
    ///   - rule: The rule for a clash over a member whose time of change is unknown; the winner's value by default.
    ///   - deletions: The rule for a document that was concurrently deleted and edited;
    ///     ``DeletionRule/editRevives`` by default.
    /// - Returns: The policy.
    public static func latestAttributeWins(
        onClash rule: MergeRule = .winner, deletions: DeletionRule = .editRevives
    ) -> ConflictPolicy {
        let merge = ConflictPolicy(
            "latestAttributeWins", kinds: [.branches], details: rule.details,
            .now { conflict in
                BranchMerge(conflict, .latestAttribute(onClash: rule)).decision()
            })
        return switch deletions {
        case .editRevives: merge
        case .deletionWins: .deletesWin(otherwise: merge)
        case .latestWins:
            ConflictPolicy(
                "latestAttributeWins, deletions too", details: rule.details,
                .now { conflict in
                    try latest(conflict) ?? merge.decideNow(conflict)
                })
        }
    }

    /// The document that was changed last wins as a whole, and a deletion wins over any edit:
    /// ``latestDocumentWins(deletions:)`` with its default. It is also the default of Couchbase Lite 4.
    public static let latestDocumentWins = latestDocumentWins()

    /// The document that was changed last wins as a whole, by the clocks that databases with
    /// ``DatabaseOptions/attributeClocks`` keep in documents. All changes in the other leaves are discarded (SEMANTICS
    /// 10); ``latestAttributeWins(onClash:deletions:)`` keeps those of other members.
    ///
    ///     John    {"name": "Holiday 2015" @1,    "budget": 50 @3}
    ///     Marie   {"name": "Family Holidays" @2, "budget": 40 @0}
    ///     result  {"name": "Holiday 2015" @1,    "budget": 50 @3}
    ///
    /// If a leaf was edited by software without clocks, or before clocks were switched on, the latest leaf is unknown:
    /// the winner stays, as by ``mostRevisions``. The same applies to equal times. Every replica writes the same
    /// revisions, because no clock is read to settle a conflict.
    ///
    /// - Parameter deletions: The rule for a document that was concurrently deleted and edited;
    ///   ``DeletionRule/deletionWins`` by default.
    /// - Returns: The policy.
    public static func latestDocumentWins(deletions: DeletionRule = .deletionWins) -> ConflictPolicy {
        let latest = ConflictPolicy("latestDocumentWins", kinds: [.branches], .now(latestDocument))
        return switch deletions {
        case .editRevives: latest
        case .deletionWins: .deletesWin(otherwise: latest, name: latest.name)
        case .latestWins:
            ConflictPolicy("latestDocumentWins, deletions too", .now { self.latest($0) ?? latestDocument($0) })
        }
    }

    /// Keeps the live leaf with the latest change.
    @Sendable private static func latestDocument(_ conflict: Conflict) -> PolicyDecision {
        func keep(_ leaf: Document, _ reason: String) -> PolicyDecision {
            leaf.revision.map { PolicyDecision(.keep($0), reason: "\($0) stays: \(reason)") }
                ?? PolicyDecision(.leaveConflicted)
        }
        var latest: (leaf: Document, moment: AttributeClock)?
        for leaf in conflict.liveLeaves {
            guard let moment = ClockedDocument(leaf.json.object ?? JSONObject()).wholeMoment else {
                let name = leaf.revision?.description ?? ""
                return keep(
                    conflict.winner, "it is the winner every read shows, and when \(name) was changed is not known")
            }
            if latest.map({ $0.moment < moment }) ?? true { latest = (leaf, moment) }
        }
        return keep(latest?.leaf ?? conflict.winner, "it was changed last")
    }

    /// The decision if a deletion is involved; `nil` if only live leaves remain to be merged.
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

// MARK: - DeletionRule

/// The rule for a document that was concurrently deleted and edited (SEMANTICS 166).
public enum DeletionRule: String, Sendable, CaseIterable {
    /// The edit stays, and so does the document, as in CouchDB; the default, because it loses nothing.
    case editRevives
    /// The deletion stays, regardless of the edit's time.
    case deletionWins
    /// The later one stays. A deletion without a time, made by software without clocks, does not win.
    case latestWins
}
