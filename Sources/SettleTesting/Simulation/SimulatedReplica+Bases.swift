internal import Settle

extension SimulatedReplica {
    /// The missing inputs of a merge: the contents of bases, or the paths that lead to them.
    struct MissingBases {
        /// The bases whose contents this replica does not have.
        var revisions: [RevisionID] = []
        /// Whether a base may be among the stemmed revisions.
        var areCut = false
    }

    /// A revision and its ancestors, as far as they are known.
    private struct Past {
        var revisions: Set<RevisionID> = []
        /// The highest generation of a stemmed ancestor; 0 for none.
        var forgotten: UInt64 = 0

        func union(_ other: Past) -> Past {
            Past(revisions: revisions.union(other.revisions), forgotten: max(forgotten, other.forgotten))
        }
    }

    /// A closing tombstone; `revision` is the revision it closes, if known.
    private struct Closing {
        let generation: UInt64
        let revision: RevisionID?
        let survivor: RevisionID
    }

    /// The missing inputs for merging a document's live leaves, by definition: the two leaves with the highest newest
    /// common revision are merged first, with all others based on it; revisions closed for another one count as its
    /// ancestors.
    func missingBases(_ id: DocumentID) throws -> MissingBases {
        let tree = try tree(id)
        let closings = try closings(of: id, in: tree)
        var pasts = tree.leaves.filter { !$0.isDeleted }.map { past(of: $0.revision, in: tree, closings) }
        var missing = MissingBases()
        while pasts.count > 1 {
            let common = pasts.indices.flatMap { first in
                pasts[(first + 1)...].compactMap { pasts[first].revisions.intersection($0.revisions).max() }
            }
            let base = common.max()
            let merged = pasts.filter { past in base.map(past.revisions.contains) ?? true }
            if merged.contains(where: { $0.forgotten > base?.generation ?? 0 }) { missing.areCut = true }
            if let base, try database.document(id, revision: base) == nil { missing.revisions.append(base) }
            pasts.removeAll { past in base.map(past.revisions.contains) ?? true }
            pasts.append(merged.dropFirst().reduce(merged[0]) { $0.union($1) })
        }
        return missing
    }

    private func closings(of id: DocumentID, in tree: RevisionTree) throws -> [Closing] {
        try tree.leaves.filter(\.isDeleted).compactMap { leaf in
            let body = try database.document(id, revision: leaf.revision)
            return body?["$closed"]?.string.flatMap { RevisionID($0) }.map { survivor in
                Closing(
                    generation: leaf.revision.generation - 1, revision: tree.parent(of: leaf.revision),
                    survivor: survivor)
            }
        }
    }

    private func past(of revision: RevisionID, in tree: RevisionTree, _ closings: [Closing]) -> Past {
        var past = Past()
        var open = [revision]
        while let next = open.popLast() {
            guard past.revisions.insert(next).inserted else { continue }
            if let parent = tree.parent(of: next) {
                open.append(parent)
            } else {
                past.forgotten = max(past.forgotten, next.generation - 1)
            }
            for closing in closings where closing.survivor == next {
                guard let closed = closing.revision else {
                    past.forgotten = max(past.forgotten, closing.generation)
                    continue
                }
                if closed < next { open.append(closed) }
            }
        }
        return past
    }
}
