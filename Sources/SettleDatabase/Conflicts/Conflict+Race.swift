internal import SettleCore

extension Conflict {
    /// Concurrent answers of replicas to one question, or to one and a part of it.
    struct Race {
        /// The answer that stays: it has seen everything that the others have seen.
        let survivor: RevisionID
        /// All answers, in the order of leaves.
        let answers: [RevisionID]
    }

    /// The live leaves that are answers to one question; `nil` unless there are at least two.
    ///
    /// Replicas that settle the same conflict concurrently with different or impure resolvers write different children
    /// of the same winner and close the same leaves, each for its own survivor:
    ///
    ///     3-c ─┬─ 4-m                     one replica's merge
    ///          └─ 4-n                     another replica's
    ///     3-x ─┬─ 4-deleted  $closed 4-m
    ///          └─ 4-deleted  $closed 4-n
    ///
    /// Both merges have seen the same edits, 3-c and 3-x, so the CouchDB winner of the two stays and the other is
    /// closed, without calling the resolver: called again on each replica it might answer differently every time
    /// (DESIGN.md 4). An answer that has seen more edits, since its replica had more leaves, stays over one that has
    /// seen only some of them. Merging the two would count the shared edits twice. A leaf that was edited since is a
    /// new edit, not an answer. If each answer has seen an edit that the other has not, the resolver is called.
    ///
    /// - Complexity: O(*l*² *c*) for *l* leaves that are answers and *c* closing tombstones.
    var race: Race? {
        let answers = seenByAnswers
        guard answers.count > 1 else { return nil }
        for (index, answer) in answers.enumerated() {
            let beaten = answers.enumerated().filter { other in
                other.offset != index && other.element.seen.isSubset(of: answer.seen)
                    && (other.element.seen != answer.seen || other.offset > index)
            }
            let isBeaten = answers.enumerated().contains { other in
                other.offset != index && answer.seen.isSubset(of: other.element.seen)
                    && (other.element.seen != answer.seen || other.offset < index)
            }
            guard !beaten.isEmpty, !isBeaten else { continue }
            let all = Set(beaten.map(\.offset)).union([index]).sorted()
            return Race(survivor: answer.revision, answers: all.map { answers[$0].revision })
        }
        return nil
    }

    /// The live leaves that closing tombstones name as survivors, in the order of leaves, each with the edits it has
    /// seen: its parent and the leaves closed for it.
    private var seenByAnswers: [(revision: RevisionID, seen: Set<RevisionID>)] {
        var closed: [RevisionID: Set<RevisionID>] = [:]
        for (revision, tombstones) in closings {
            for tombstone in tombstones where !tombstone.isKept {
                closed[tombstone.survivor, default: []].insert(revision)
            }
        }
        return liveLeaves.compactMap { leaf in
            guard let revision = leaf.revision, let parent = tree.parent(of: revision), let seen = closed[revision]
            else { return nil }
            return (revision, seen.union([parent]))
        }
    }

    /// The resolvers that decided branches of this document before.
    package var resolvers: Set<ResolverIdentity> { Set(closings.values.joined().compactMap(\.resolver)) }
}
