package import SettleCore

extension VersionVector {
    /// What the current state of a document's tree has seen.
    ///
    ///     1-a ─ 2-V@anna ─ 3-b            winner               3-b and its ancestors
    ///       └── 2-W@bert ─ 3-deleted      settled branch       2-W@bert and its tombstone: given up for the winner
    ///       └── 2-X@carl                  open conflict        not 2-X@carl: its device has to see that
    ///     1-V@dora                        stemmed              1-V@dora, see `RevisionTree.forgottenVersions`
    ///
    /// The current version is the winner's. With settled branches, a winner that is an id of a tree gets the state's time as
    /// its version, and so does one whose source has a later version in a settled branch. Else a device that has seen that
    /// branch would think that it has the newer state.
    ///
    /// - Parameter tree: The tree. For an empty tree the result is `nil`.
    /// - Complexity: O(*n*) in revisions.
    package init?(_ tree: RevisionTree) {
        guard let winner = tree.winner, let path = tree.history(of: winner.revision)?.revisions else { return nil }
        let settled = tree.leaves.filter { $0.isDeleted && $0.revision != winner.revision }.map(\.revision)
        let seen = path + settled.flatMap { tree.history(of: $0)?.revisions ?? [] } + tree.forgottenVersions
        // Before the first version of a device there are ids of a tree alone.
        let first = path.lastIndex(where: DocumentVersion.isVersion)
        let ids = Array(path[(first.map { $0 + 1 } ?? 0)...])
        let versions = seen.map { DocumentVersion($0) }
        var times = Dictionary(versions.map { ($0.source, $0.time) }, uniquingKeysWith: max)
        let own = versions[0]
        let isLatest = times[own.source] == own.time
        guard !settled.isEmpty || !isLatest else {
            self.init(current: own, others: times, legacy: ids)
            return
        }
        let state = DocumentVersion(time: Self.stateTime(tree, after: times[.tree] ?? 0), source: .tree)
        times[.tree] = state.time
        self.init(current: isLatest && own.source != .tree ? own : state, others: times, legacy: ids)
    }

    /// A time for the state of a tree, among the versions that stand for ids of trees.
    ///
    ///     state                                                    time
    ///     1-a, 1-b ─ 2-deleted                                     2-deleted + 3 revisions
    ///     1-a ─ 2-deleted, 1-b ─ 2-deleted, 1-c ─ 2-d              2-deleted + 6 revisions
    ///
    /// It is later than that of each id and of each earlier state, since a tree that grows has more revisions. Both states
    /// of the drawing have the same latest id, and different winners. A device's edit is not counted, so that its next one
    /// is still known to have seen the state.
    private static func stateTime(_ tree: RevisionTree, after latest: UInt64) -> UInt64 {
        let counted = tree.revisions.filter { !DocumentVersion.isVersion($0) || tree[$0]?.isDeleted == true }
        let generation = counted.map(\.generation).max() ?? 0
        // An id of any generation may come from outside, so the sum may have no room.
        let (time, isTooLarge) = max(latest, generation << 40).addingReportingOverflow(UInt64(counted.count))
        return isTooLarge ? .max : time
    }

    /// Where a revision stands in a tree.
    package enum Place: Hashable, Sendable {
        /// It is there, or what it says is the state of the tree.
        case known(RevisionID)
        /// It has seen the tree's state or winner: it is a child of the winner, or the first of its document.
        case next(RevisionHistory)
        /// It was made apart from the tree's state: it is a branch.
        case branch(RevisionHistory)
    }

    /// Finds the place of this vector's revision in a tree.
    ///
    /// - Parameter tree: The document's tree; `nil` if there is no such document.
    /// - Returns: The place, with the revision and its ancestors, the newest first. `nil` if the time is in the far future, or
    ///   if the generations of the ids do not count down by one.
    package func place(in tree: RevisionTree?) -> Place? {
        guard let current else {
            guard let history = RevisionHistory(legacy) else { return nil }
            if tree?.contains(history.revision) == true { return .known(history.revision) }
            let hasSeen = tree.flatMap { VersionVector($0) }.map(covers) ?? true
            return hasSeen ? .next(history) : .branch(history)
        }
        guard let tree, let winner = tree.winner, let state = VersionVector(tree) else {
            return child(of: legacy).map { .next($0) }
        }
        if current == state.current { return .known(winner.revision) }
        let isNext = covers(state) || hasSeenLast(winner.revision)
        let known = tree.revisions.first { DocumentVersion($0) == current }
        if let known, known == winner.revision || !isNext || current.source == .tree { return .known(known) }
        let parent = isNext ? winner.revision : tree.revisions.filter(hasSeen).max()
        let history = child(of: parent.flatMap { tree.history(of: $0)?.revisions } ?? [])
        return history.map { isNext ? .next($0) : .branch($0) }
    }

    private func child(of path: [RevisionID]) -> RevisionHistory? {
        guard let signature = current?.signature else { return nil }
        let revision = RevisionID(generation: (path.first?.generation ?? 0) + 1, signature: signature)
        return revision.flatMap { RevisionHistory([$0] + path) }
    }
}
