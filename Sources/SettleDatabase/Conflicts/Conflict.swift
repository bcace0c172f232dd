public import SettleCore

/// A document with concurrent edits, as an immutable value. A resolver gets it.
///
///     base 1-a ─┬─ 2-b ── 3-c     leaves[0], the winner, which every read shows
///               └─ 2-x            leaves[1]
///
/// The value is the same for an app's call, a pull and the command line.
public struct Conflict: Sendable {
    /// The document's id.
    public let documentID: DocumentID
    /// The kind of conflict.
    public let kind: ConflictKind
    /// The leaves to decide between, each with its members and attachments: the live ones, winner first (SEMANTICS
    /// 60, 68), then the deletions that contradict them.
    public let leaves: [Document]
    /// The newest common ancestor of all leaves, if its content is still kept. It is never guessed: it is also
    /// `nil` if histories were stemmed, because a newer common ancestor may have been lost.
    public let base: Document?
    /// The local leaf: the highest that did not arrive beside an existing one; `nil` if all did.
    public let local: Document?
    /// The remote leaf: the highest that arrived from a peer beside an existing one; `nil` if none did.
    public let remote: Document?
    /// The document's whole revision tree.
    public let tree: RevisionTree
    /// The steps for merging the live leaves; `nil` if there are too many to merge.
    let steps: [MergeStep]?
    /// The contents of the bases of those steps, if they are kept.
    let bases: [RevisionID: Document]
    /// The peer's state that the edits here were based on. It replaces a base whose content is not kept; `nil` if
    /// that state is unknown.
    let formerState: Document?
    /// The closing tombstones among the leaves, by the revision each one closes.
    let closings: [RevisionID: [ClosingTombstone]]

    /// The leaf that every read shows.
    public var winner: Document { leaves[0] }
    /// The live leaves, winner first.
    public var liveLeaves: [Document] { leaves.filter { !$0.isDeleted } }
    /// The deletions that contradict a live leaf, highest first.
    public var deletions: [Document] { leaves.filter(\.isDeleted) }

    /// The maximum number of leaves of a conflict, because all their contents are in memory at once.
    package static let maximumLeaves = 1000
    /// The maximum size of all their contents together, in bytes.
    package static let maximumBytes = 256 << 20
    /// The maximum number of live leaves to merge, because finding their bases takes cubic time.
    static let maximumMerged = 200

    /// Returns the leaf with a revision.
    public func leaf(_ revision: RevisionID?) -> Document? { leaves.first { $0.revision == revision } }

    /// The side of a leaf, as for the policies `localWins` and `remoteWins`; `nil` if all leaves are on one side.
    package func side(of leaf: Document) -> String? {
        guard remote != nil, let node = leaf.revision.flatMap({ tree[$0] }) else { return nil }
        return node.marks.contains(.incoming) ? "remote" : "local"
    }

    /// The revisions of the leaves. While they are the same, the conflict is the same.
    package var revisions: [RevisionID] { leaves.compactMap(\.revision) }

    /// The revisions to be settled in a tree, winner first.
    static func revisions(in tree: RevisionTree, _ concerns: Set<ConflictKind>) -> [RevisionID] {
        var revisions = tree.leaves.filter { !$0.isDeleted }.map(\.revision)
        if revisions.isEmpty { return [] }
        if concerns.contains(.deletion) { revisions += tree.disputedDeletions }
        guard revisions.count > 1, concerns.contains(.branches) || tree.isContested else { return [] }
        return revisions
    }

    /// Reads the conflict of a document; `nil` if there is nothing to settle.
    init?(
        _ record: DocumentRecord, concerns: Set<ConflictKind>, origin: UInt64, beside peer: FormerState? = nil,
        content: (UInt64) throws -> RevisionContent?
    ) throws {
        let tree = record.tree
        let revisions = Self.revisions(in: tree, concerns)
        guard revisions.count > 1 else { return nil }
        guard revisions.count <= Self.maximumLeaves else {
            throw DatabaseError(
                .invalid,
                """
                \"\(record.id)\" has \(revisions.count) leaves in conflict, more than \(Self.maximumLeaves); purge some \
                of them
                """)
        }
        var bytes = 0
        func document(_ revision: RevisionID) throws -> Document? {
            guard let node = tree[revision] else { return nil }
            let found = node.bodyToken == BodyToken.record ? record.content : try content(node.bodyToken)
            bytes += found?.body.utf8.count ?? 0
            guard bytes <= Self.maximumBytes else {
                throw DatabaseError(
                    .invalid,
                    """
                    the \(revisions.count) leaves of \"\(record.id)\" in conflict have more than \(Self.maximumBytes >> 20) \
                    MiB together; delete or purge some of them
                    """)
            }
            return found.map {
                Document(id: record.id, revision: revision, isDeleted: node.isDeleted, $0, origin: origin)
            }
        }
        documentID = record.id
        self.tree = tree
        kind = tree.isConflicted ? .branches : .deletion
        leaves = try revisions.map { revision in
            if let leaf = try document(revision) { return leaf }
            throw DatabaseError(.damagedDocument, "the content of \"\(record.id)\" at \(revision) is missing")
        }
        func isIncoming(_ leaf: Document) -> Bool {
            leaf.revision.flatMap { tree[$0]?.marks.contains(.incoming) } ?? false
        }
        local = leaves.first { !isIncoming($0) }
        remote = leaves.first(where: isIncoming)
        var closings: [RevisionID: [ClosingTombstone]] = [:]
        var forgotten: [(generation: UInt64, survivor: RevisionID)] = []
        for node in tree.leaves where node.isDeleted && node.marks.contains(.closing) {
            guard let body = try document(node.revision)?.body(), let closing = ClosingTombstone(body) else { continue }
            if let parent = tree.parent(of: node.revision) {
                closings[parent, default: []].append(closing)
            } else {
                forgotten.append((node.revision.generation - 1, closing.survivor))
            }
        }
        self.closings = closings
        let live = leaves.filter { !$0.isDeleted }.compactMap(\.revision)
        let closed = closings.flatMap { closed in closed.value.map { (closed.key, $0.survivor) } }
        steps = live.count <= Self.maximumMerged ? tree.mergeSteps(of: live, closed: closed, forgotten: forgotten) : nil
        var bases: [RevisionID: Document] = [:]
        for base in steps?.compactMap(\.base) ?? [] { bases[base] = try document(base) }
        self.bases = bases
        formerState = try peer.flatMap { try $0.explains(live, in: tree) ? document($0.former) : nil }
        if let steps, !steps.allSatisfy(\.isCertain) {
            base = nil
        } else if let steps, steps.count == 1 {
            base = steps[0].base.flatMap { bases[$0] }
        } else {
            base = try tree.branchPoints(of: revisions).ancestor.flatMap(document)
        }
    }
}

// MARK: - ConflictKind

/// The kinds of conflict.
public enum ConflictKind: Hashable, Sendable, CaseIterable {
    /// Two or more live leaves: a conflict in CouchDB and Cloudant Sync (SEMANTICS 61, 66).
    case branches
    /// One live leaf and a concurrent deletion by a user (SEMANTICS 7, K2). Reads return the live leaf (63); only a
    /// policy that can let a deletion win has something to decide.
    case deletion
}

// MARK: - Missing Base

extension Conflict {
    /// The reason why a conflict has no ``Conflict/base``.
    package enum MissingBase: Sendable {
        /// The leaves have no common revision: the documents were created independently.
        case noCommonRevision
        /// The base can't be determined, because histories were stemmed.
        case unknown
        /// The base is known, but its content is no longer stored.
        case contentNotKept
    }

    /// The reason why the conflict has no base; `nil` if it has one.
    package var missingBase: MissingBase? {
        if base != nil { return nil }
        if let steps, !steps.allSatisfy(\.isCertain) { return .unknown }
        let ancestor = steps?.count == 1 ? steps?[0].base : tree.branchPoints(of: revisions).ancestor
        if ancestor != nil { return .contentNotKept }
        // The leaves to merge were considered; deletions and leaves beyond the limit for merging remain.
        let isCut = revisions.contains { revision in
            tree.history(of: revision).map { $0.signatures.count < revision.generation } ?? false
        }
        return isCut ? .unknown : .noCommonRevision
    }
}

// MARK: - Race

extension Conflict {
    /// Concurrent answers of replicas to one question, or to a question and a part of it.
    struct Race {
        /// The answer that stays: it has seen everything that any of the answers has seen.
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
    /// Both merges have seen the same edits, 3-c and 3-x. So the CouchDB winner of the two stays and the other is
    /// closed without calling the resolver, because the resolver might answer differently on each replica
    /// (DESIGN.md 4). If an answer has seen more edits, since its replica had more leaves, it stays instead of an
    /// answer that has seen only some of them. Merging the two would count the shared edits twice. A leaf that was
    /// edited since is a new edit, not an answer. If each answer has seen an edit that the other has not, the
    /// resolver is called.
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

    /// The live leaves that closing tombstones name as survivors, in the order of leaves. Each has the edits that
    /// it has seen: its parent and the leaves that were closed for it.
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
