package import SettleCore
internal import SettlePlatform

/// The versions that a version of a document includes: the time of each source's latest version, followed by the
/// revision ids from before the first version.
///
///     18eb55accfe80001@aYzo…ZA; 3039e0c8012@Revision+Tree+Encoding, 3-9e0c80…, 2-44e1…
///     └── current version        └── others, merged or older             └── ids of a tree, the newest first
package struct VersionVector: Hashable, Sendable {
    /// The version itself; `nil` if the document has only revision ids.
    package let current: DocumentVersion?
    /// The latest time of each source, including that of the current version.
    private let times: [DocumentVersion.Source: UInt64]
    /// The revision ids, newest first.
    package let legacy: [RevisionID]

    package init(
        current: DocumentVersion?, others: [DocumentVersion.Source: UInt64], legacy: [RevisionID]
    ) {
        var times = others
        if let current { times[current.source] = max(current.time, times[current.source] ?? 0) }
        (self.current, self.times, self.legacy) = (current, times, legacy)
    }

    /// Parses the properties `rev` and `history` of a message, or one text with both.
    ///
    /// - Returns: `nil` if one of them is neither a version nor a revision id, if a version comes after an id, or
    ///   if the current version is not the latest one of its source.
    package init?(_ revision: String, history: String = "") {
        let parts = "\(revision),\(history)".split { $0 == "," || $0 == ";" }
            .map { String($0).trimmingBlanks() }.filter { !$0.isEmpty }
        let versions = parts.prefix { $0.utf8.contains(UInt8(ascii: "@")) }.map { DocumentVersion($0) }
        let ids = parts.dropFirst(versions.count).map { RevisionID($0) }
        guard !parts.isEmpty, versions.count <= 1000, versions.allSatisfy({ $0 != nil }), ids.allSatisfy({ $0 != nil })
        else { return nil }
        let known = versions.compactMap(\.self)
        guard known.allSatisfy({ $0.source != known[0].source || $0.time <= known[0].time }) else { return nil }
        self.init(
            current: known.first, others: Dictionary(known.map { ($0.source, $0.time) }, uniquingKeysWith: max),
            legacy: ids.compactMap(\.self))
    }

    /// Whether this vector has seen the current version of another one, or a later version of that version's
    /// source.
    ///
    /// Couchbase Lite compares vectors in the same way, and pulls no revision whose current version it has seen.
    /// Other sources don't count: after a push, all that a device knows of the server's state is the version that
    /// it has pushed.
    package func covers(_ other: VersionVector) -> Bool {
        guard let version = other.current ?? other.legacy.first.map({ DocumentVersion($0) }) else { return true }
        return version.time <= allTimes[version.source] ?? 0
    }

    /// Whether a revision is the latest version of its source that this vector has seen.
    package func hasSeenLast(_ revision: RevisionID) -> Bool {
        let version = DocumentVersion(revision)
        return times[version.source] == version.time || legacy.contains(revision)
    }

    /// Whether this vector has seen the winner of a state, if the winner is a device's version and the latest one
    /// of its source in that state. The state itself may have another name.
    private func hasSeenVersion(_ winner: RevisionID, of state: VersionVector) -> Bool {
        let version = DocumentVersion(winner)
        return version.source != .tree && state.times[version.source] == version.time && hasSeen(winner)
    }

    /// Whether this vector has certainly seen a revision. For a device's version, the time of that device decides.
    /// For a revision id, the vector must contain the id itself, because a later id may belong to another branch.
    package func hasSeen(_ revision: RevisionID) -> Bool {
        let version = DocumentVersion(revision)
        guard version.source == .tree else { return version.time <= times[version.source] ?? 0 }
        return version.time == times[.tree] || legacy.contains(revision)
    }

    /// The times, including the newest revision id as a version. A device that names a version by such an id has
    /// seen that version.
    private var allTimes: [DocumentVersion.Source: UInt64] {
        guard let newest = legacy.first.map({ DocumentVersion($0) }) else { return times }
        return times.merging([newest.source: newest.time], uniquingKeysWith: max)
    }

    /// The property `rev`: the current version, or the newest id.
    package var revision: String { current?.description ?? legacy.first?.description ?? "" }

    /// The maximum number of versions in the property `history`. Couchbase Lite refuses properties of more than
    /// 102,400 bytes.
    private static let maximumVersions = 999

    /// The property `history`: the other versions, latest first, followed by the ids.
    ///
    /// - Parameter ids: The maximum number of ids in the text. A device that has the document under a revision id
    ///   finds its own state among these ancestors. Other devices would report a conflict, so they get no ids.
    /// - Returns: The text; empty if there is only the current version.
    package func history(ids: Int) -> String {
        var others: [DocumentVersion] = []
        for (source, time) in times where source != current?.source {
            others.append(DocumentVersion(time: time, source: source))
        }
        others.sort { $0.time == $1.time ? $0.description < $1.description : $0.time > $1.time }
        let behind = (current == nil ? legacy.dropFirst() : legacy[...]).prefix(ids)
        let names = others.prefix(Self.maximumVersions).map(\.description) + behind.map(\.description)
        return names.joined(separator: ",")
    }

    /// The versions in one text.
    package var text: String {
        let history = history(ids: 0)
        return history.isEmpty ? revision : "\(revision); \(history)"
    }
}

// MARK: - Tree

extension VersionVector {
    /// The version vector of the current state of a document's tree.
    ///
    ///     1-a ─ 2-V@anna ─ 3-b            winner               3-b and its ancestors
    ///       └── 2-W@bert ─ 3-deleted      settled branch       2-W@bert and its tombstone: given up for the winner
    ///       └── 2-X@carl                  open conflict        not 2-X@carl: its device has to see that
    ///     1-V@dora                        stemmed              1-V@dora, see `RevisionTree.forgottenVersions`
    ///
    /// The current version is normally the winner's. The winner gets the state's time as its version in four
    /// cases. First, if it has a revision id and there are settled branches. Second, if its source has a later
    /// version in a settled branch: a device that has seen that branch would assume that it has the newer state.
    /// Third, if it may be the winner again after another branch was ended, see `mayHaveReturned`: a device that
    /// has seen it before would not pull it again. Fourth, if an open branch has a later id: ids of CouchDB win
    /// against the longer ones of Couchbase Lite by their bytes, and not by the digits that a version has of them. A
    /// device that has seen that branch would assume that it has seen the winner.
    ///
    /// - Parameter tree: The tree. For an empty tree the result is `nil`.
    /// - Complexity: O(*n*) in revisions.
    package init?(_ tree: RevisionTree) {
        guard let winner = tree.winner, let path = tree.history(of: winner.revision)?.revisions else { return nil }
        let settled = tree.leaves.filter { $0.isDeleted && $0.revision != winner.revision }.map(\.revision)
        let seen = path + settled.flatMap { tree.history(of: $0)?.revisions ?? [] } + tree.forgottenVersions
        // Before the first device's version there are only revision ids.
        let first = path.lastIndex(where: DocumentVersion.isVersion)
        let ids = Array(path[(first.map { $0 + 1 } ?? 0)...])
        let versions = seen.map { DocumentVersion($0) }
        var times = Dictionary(versions.map { ($0.source, $0.time) }, uniquingKeysWith: max)
        let own = versions[0]
        let isLatest = times[own.source] == own.time && !Self.hasLaterBranch(tree, own)
        guard !settled.isEmpty || !isLatest else {
            self.init(current: own, others: times, legacy: ids)
            return
        }
        let state = DocumentVersion(time: Self.stateTime(tree, after: times[.tree] ?? 0), source: .tree)
        times[.tree] = state.time
        let isNew = own.source != .tree && isLatest && !Self.mayHaveReturned(winner, in: tree, path)
        self.init(current: isNew ? own : state, others: times, legacy: ids)
    }

    /// Whether a tree's winner may have been the winner before, until another revision became the winner and was
    /// ended later.
    ///
    ///     1-a ─ 2-V@anna               the winner before 2-f came, and after 3-deleted
    ///       └── 2-f ─ 3-deleted
    ///
    /// The ended revision is then on another branch, and while that was open, it was the winner: its id is the
    /// higher one, or the current winner is a deletion. A tree does not record which branch came first, so the
    /// result may be true for a new winner too. Its devices then pull the same content under another name.
    private static func mayHaveReturned(
        _ winner: RevisionNode, in tree: RevisionTree, _ path: [RevisionID]
    ) -> Bool {
        let ancestors = Set(path)
        return tree.leaves.contains { end in
            guard end.isDeleted, end.revision != winner.revision, end.revision.generation > 1 else { return false }
            guard let ended = tree.parent(of: end.revision) else {
                // The parent of the tombstone was stemmed.
                return winner.isDeleted || end.revision.generation > winner.revision.generation
            }
            return !ancestors.contains(ended) && (winner.isDeleted || ended > winner.revision)
        }
    }

    /// Whether a tree has a live leaf whose id counts as a later version than the winner's id.
    private static func hasLaterBranch(_ tree: RevisionTree, _ winner: DocumentVersion) -> Bool {
        guard winner.source == .tree, tree.isConflicted else { return false }
        return tree.leaves.contains { leaf in
            let version = DocumentVersion(leaf.revision)
            return !leaf.isDeleted && version.source == .tree && version.time > winner.time
        }
    }

    /// A time for the state of a tree, in the range of versions that stand for revision ids.
    ///
    ///     state                                                    time
    ///     1-a, 1-b ─ 2-deleted                                     2-deleted + 1 + 2
    ///     1-a ─ 2-deleted, 1-b ─ 2-deleted, 1-c ─ 2-d              2-deleted + 2 + 2 + 2
    ///
    /// It is later than that of each id and of each earlier state, because the sum of the leaves' generations
    /// increases when a tree grows, and stays the same when it is stemmed. Both states in the drawing have the same
    /// latest id, but different winners.
    private static func stateTime(_ tree: RevisionTree, after latest: UInt64) -> UInt64 {
        let revisions = tree.revisions
        let lastID = revisions.map { DocumentVersion($0) }.filter { $0.source == .tree }.map(\.time).max() ?? 0
        let lastDeletion = revisions.last { tree[$0]?.isDeleted == true }.map { $0.generation << 40 } ?? 0
        // An id of any generation may come from outside, so the sum may overflow.
        return tree.leaves.reduce(max(latest, lastID, lastDeletion)) { time, leaf in
            let (sum, isTooLarge) = time.addingReportingOverflow(leaf.revision.generation)
            return isTooLarge ? .max : sum
        }
    }

    /// The place of a revision in a tree.
    package enum Place: Hashable, Sendable {
        /// The tree contains it, or it names the state of the tree.
        case known(RevisionID)
        /// It has seen the tree's state or winner: it is a child of the winner, or the first revision of its
        /// document.
        case next(RevisionHistory)
        /// It was made without seeing the tree's state, so it is a branch.
        case branch(RevisionHistory)
    }

    /// Finds the place of this vector's revision in a tree.
    ///
    /// - Parameter tree: The document's tree; `nil` if the document does not exist.
    /// - Returns: The place, with the revision and its ancestors, newest first; `nil` if the time is in the far
    ///   future, or if the generations of the ids don't descend by one.
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
        let isNext = covers(state) || hasSeenLast(winner.revision) || hasSeenVersion(winner.revision, of: state)
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
