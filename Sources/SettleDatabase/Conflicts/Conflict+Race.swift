internal import RevisionTree

extension Conflict {
    /// The live leaves that are answers to one question, winner first; none unless there are at least two.
    ///
    /// Replicas that settle the same conflict at the same moment by different or impure resolvers write different
    /// children of the same winner and close the same leaves, each for its own survivor:
    ///
    ///     3-c ─┬─ 4-m                     one replica's merge
    ///          └─ 4-n                     another one's
    ///     3-x ─┬─ 4-deleted  $closed 4-m
    ///          └─ 4-deleted  $closed 4-n
    ///
    /// Both merges have seen the same edits, so the CouchDB winner of the two stays and the other is closed, without
    /// asking the resolver: asked again on each replica it might answer differently for ever (DESIGN.md 4). A leaf that was
    /// edited since is no answer any more but a new edit.
    ///
    /// - Complexity: O(*l* *c*) for *l* leaves and *c* closing tombstones.
    var racingAnswers: [RevisionID] {
        struct Question: Hashable {
            let parent: RevisionID
            let closed: Set<RevisionID>
        }
        guard !closings.isEmpty else { return [] }
        var answers: [Question: [RevisionID]] = [:]
        for leaf in liveLeaves {
            guard let revision = leaf.revision, let parent = tree.parent(of: revision) else { continue }
            let closed = closings.filter { $0.value.contains { $0.survivor == revision } }.keys
            if !closed.isEmpty { answers[Question(parent: parent, closed: Set(closed)), default: []].append(revision) }
        }
        // In the order of the leaves, for a dictionary has none.
        for leaf in liveLeaves {
            for revisions in answers.values where revisions.count > 1 && revisions.first == leaf.revision {
                return revisions
            }
        }
        return []
    }

    /// The resolvers that decided over branches of this document before.
    var resolvers: Set<ResolverIdentity> { Set(closings.values.joined().compactMap(\.resolver)) }
}
