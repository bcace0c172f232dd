/// The edit history of one document, including every branch that replication has added.
///
/// Each node is a revision; children are edits made on top of their parent. Concurrent edits of the same revision on
/// two peers make two leaves once they replicate:
///
///     1-a ── 2-b ─┬─ 3-c     ← winner: same generation, higher signature
///                 └─ 3-9     ← conflict
///
/// A tree is a value: every operation returns or throws, and none performs I/O.
///
/// ## Representation
///
/// The nodes are in one array, sorted by revision id. A parent is one generation below its child, so it always
/// comes before it, and the array is in topological order:
///
///     index      0     1     2     3
///     revision  1-a   2-b   3-9   3-c
///     parent     –     0     1     1
///     superseded ✓     ✓     –     –
///
/// The sorted order makes the array canonical: the same revisions with the same marks are equal trees with equal
/// packed bytes, regardless of the order of arrival. *Merging is set union*: nodes are matched by id, and a parent
/// known in one tree fills a gap in the other. So a stemmed root is joined to its parent again when an older path
/// arrives (apache/couchdb#2501), and merging is commutative.
///
/// A node that once had a child stays `superseded`, even if a peer with a broken history claims another parent for
/// that child. So merging never turns an inner revision back into a leaf.
///
/// ## Invariants
/// - Nodes are strictly ascending by revision id; a parent's generation is one below its child's.
/// - A node with a child is superseded; the last node never is. So a tree that is not empty has a leaf, and so has
///   the union of any two trees.
/// - ``winner`` depends only on the set of leaves, so every peer computes the same one (SEMANTICS 62).
///
/// ## Topics
/// ### Reading
/// - ``winner``
/// - ``leaves``
/// - ``conflicts``
/// - ``history(of:limit:)``
/// ### Growing
/// - ``insert(_:parent:isDeleted:)``
/// - ``insert(_:isDeleted:)``
/// - ``merge(_:)``
/// - ``stem(to:)``
public struct RevisionTree: Hashable, Sendable {
    var nodes: [RevisionNode]

    /// Makes an empty tree, as for a document that was never written.
    public init() { nodes = [] }

    init(nodes: [RevisionNode]) { self.nodes = nodes }

    /// Whether there are no revisions.
    public var isEmpty: Bool { nodes.isEmpty }

    /// The number of revisions, including inner ones.
    public var count: Int { nodes.count }

    /// Every revision in ascending order, parents before their children.
    ///
    /// - Complexity: O(*n*).
    public var revisions: [RevisionID] { nodes.map(\.revision) }

    /// Whether the tree has this revision, as a leaf or an inner node.
    ///
    /// - Complexity: O(log *n*).
    public func contains(_ revision: RevisionID) -> Bool { index(of: revision) != nil }

    /// The node of a revision; `nil` if the tree does not have it.
    ///
    /// - Complexity: O(log *n*).
    public subscript(revision: RevisionID) -> RevisionNode? { index(of: revision).map { nodes[$0] } }

    /// The revision that was edited; `nil` for a root, stemmed or not, and for an unknown revision.
    public func parent(of revision: RevisionID) -> RevisionID? {
        guard let index = index(of: revision), let parent = nodes[index].parentIndex else { return nil }
        return nodes[parent].revision
    }

    /// The position of a revision.
    func index(of revision: RevisionID) -> Int? {
        let position = insertionPoint(of: revision)
        return position < nodes.count && nodes[position].revision == revision ? position : nil
    }

    /// The position of the first node that is not below the revision; searches from the end, where new edits are.
    func insertionPoint(of revision: RevisionID) -> Int {
        if nodes.isEmpty || isNode(nodes.count - 1, below: revision) { return nodes.count }
        var low = 0
        var high = nodes.count
        while low < high {
            let middle = (low + high) / 2
            if isNode(middle, below: revision) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a node comes before a revision. Generations nearly always differ, so usually no signature is copied.
    @inline(__always)
    private func isNode(_ index: Int, below revision: RevisionID) -> Bool {
        let generation = nodes[index].revision.generation
        if generation != revision.generation { return generation < revision.generation }
        return nodes[index].revision.signature < revision.signature
    }
}

extension RevisionTree {
    /// The leaf that every peer shows for the document; `nil` in an empty tree.
    ///
    /// The rule is CouchDB's (SEMANTICS 63): a live leaf wins over a deleted one, then the higher generation as a
    /// number, then the higher signature. Nodes are in that order, so the winner is the last live leaf, or
    /// otherwise the last leaf.
    ///
    /// - Complexity: O(1) when the newest revision is live, else O(*n*).
    public var winner: RevisionNode? {
        var deleted: RevisionNode?
        for node in nodes.reversed() where node.isLeaf {
            if !node.isDeleted { return node }
            if deleted == nil { deleted = node }
        }
        return deleted
    }

    /// Every leaf, starting with the winner: live leaves before deleted ones, each kind by descending id.
    ///
    /// - Complexity: O(*n*).
    public var leaves: [RevisionNode] {
        let leaves = nodes.reversed().filter(\.isLeaf)
        return leaves.filter { !$0.isDeleted } + leaves.filter(\.isDeleted)
    }

    /// The live leaves except for the winner: CouchDB's `_conflicts`, highest id first.
    public var conflicts: [RevisionID] { leaves.dropFirst().filter { !$0.isDeleted }.map(\.revision) }

    /// The deleted leaves except for the winner: CouchDB's `_deleted_conflicts`, highest id first.
    public var deletedConflicts: [RevisionID] { leaves.dropFirst().filter(\.isDeleted).map(\.revision) }

    /// Whether there are two or more live leaves (SEMANTICS 61). Tombstones do not count (66).
    public var isConflicted: Bool {
        var live = 0
        for node in nodes where node.isLeaf && !node.isDeleted { live += 1 }
        return live > 1
    }

    /// Whether every leaf is a tombstone, so that the document is deleted (SEMANTICS 201); false for an empty tree.
    public var isDeleted: Bool { winner?.isDeleted ?? false }
}

// MARK: - RevisionNode

/// One revision in a ``RevisionTree``.
public struct RevisionNode: Hashable, Sendable {
    /// The revision's id.
    public let revision: RevisionID
    /// Whether the edit deleted the document; unknown for inner revisions that arrived only as part of a history.
    public internal(set) var isDeleted: Bool
    /// Whether an edit was made on top of this one, so that it is not a leaf.
    package internal(set) var isSuperseded: Bool
    /// Whether a peer is known to have this revision: it came from there, or was sent and acknowledged.
    package internal(set) var isShared: Bool
    /// Further properties of the revision.
    package internal(set) var marks: RevisionMarks
    /// An opaque number for the store of bodies, 0 for none; the tree does not interpret it.
    package internal(set) var bodyToken: UInt64
    /// The parent's index; -1 for none.
    var parent: Int32

    init(
        _ revision: RevisionID, parent: Int? = nil, isDeleted: Bool = false, isSuperseded: Bool = false,
        isShared: Bool = false, marks: RevisionMarks = [], bodyToken: UInt64 = 0
    ) {
        self.revision = revision
        self.parent = parent.map { Int32(truncatingIfNeeded: $0) } ?? -1
        self.isDeleted = isDeleted
        self.isSuperseded = isSuperseded
        self.isShared = isShared
        self.marks = marks
        self.bodyToken = bodyToken
    }

    /// Whether no edit was made on top of this one.
    public var isLeaf: Bool { !isSuperseded }

    var parentIndex: Int? {
        get { parent < 0 ? nil : Int(parent) }
        set { parent = newValue.map { Int32(truncatingIfNeeded: $0) } ?? -1 }
    }
}

/// Properties of a revision in addition to its place in the tree.
package struct RevisionMarks: OptionSet, Hashable, Sendable {
    /// The marks as bits.
    package let rawValue: UInt8

    /// It closes the losing branch of a settled conflict: a tombstone with the body `{"$closed":"<surviving
    /// revision>"}`. It is not a user's deletion (SEMANTICS K2).
    package static let closing = RevisionMarks(rawValue: 1)
    /// It is known to be a user's deletion: the whole document was deleted where it was made (K2, first test).
    package static let deletion = RevisionMarks(rawValue: 2)
    /// It was replicated from a peer while another leaf was here, so it is the remote side of this conflict.
    package static let incoming = RevisionMarks(rawValue: 4)

    static let all: RevisionMarks = [.closing, .deletion, .incoming]

    /// Makes marks from bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

// MARK: - Marks

extension RevisionTree {
    /// Records where the store keeps the body of a revision; 0 if it is not kept. Unknown revisions are ignored.
    package mutating func setBodyToken(_ token: UInt64, of revision: RevisionID) {
        if let index = index(of: revision) { nodes[index].bodyToken = token }
    }

    /// Records whether an inner revision deleted the document, when that becomes known. Leaves and unknown
    /// revisions are ignored.
    package mutating func setDeleted(_ isDeleted: Bool, of revision: RevisionID) {
        if let index = index(of: revision), nodes[index].isSuperseded { nodes[index].isDeleted = isDeleted }
    }

    /// Records that a peer has a revision; unknown revisions are ignored. Returns whether the tree changed.
    @discardableResult
    package mutating func markShared(_ revision: RevisionID) -> Bool {
        guard let index = index(of: revision), !nodes[index].isShared else { return false }
        nodes[index].isShared = true
        return true
    }

    /// Adds marks to those of a revision; unknown revisions are ignored. Returns whether the tree changed.
    @discardableResult
    package mutating func mark(_ revision: RevisionID, _ marks: RevisionMarks) -> Bool {
        guard let index = index(of: revision), !nodes[index].marks.isSuperset(of: marks) else { return false }
        nodes[index].marks.formUnion(marks)
        return true
    }

    /// The newest revision that a peer has on the path back from this one, which may be this one; `nil` if there is
    /// none.
    package func sharedAncestor(of revision: RevisionID) -> RevisionID? {
        var index = index(of: revision)
        while let current = index {
            if nodes[current].isShared { return nodes[current].revision }
            index = nodes[current].parentIndex
        }
        return nil
    }

    /// Every node in ascending order, parents before their children.
    package var allNodes: [RevisionNode] { nodes }

    /// A description of the first violated invariant of the tree; `nil` if all hold.
    package var brokenInvariant: String? {
        // A fast path: nearly every document has one revision, and every read checks this.
        if nodes.count == 1, nodes[0].isLeaf, nodes[0].parent < 0 { return nil }
        var hasChild = [Bool](repeating: false, count: nodes.count)
        for (index, node) in nodes.enumerated() {
            if index > 0, nodes[index - 1].revision >= node.revision { return "\(node.revision) is out of order" }
            guard let parent = node.parentIndex else { continue }
            guard parent < index, nodes[parent].revision.generation + 1 == node.revision.generation else {
                return "\(node.revision) has a parent that is not one generation below it"
            }
            hasChild[parent] = true
        }
        for (index, node) in nodes.enumerated() where hasChild[index] && node.isLeaf {
            return "\(node.revision) has children and counts as a leaf"
        }
        return nodes.last?.isLeaf == false ? "the highest revision is not a leaf" : nil
    }
}

// MARK: - Deletions

extension RevisionTree {
    /// The tombstones that contradict a live leaf, highest id first: one user has deleted the document while
    /// another has continued to edit it.
    ///
    /// In this case CouchDB's winner is the live leaf (SEMANTICS 63), and most policies keep it. A policy by which
    /// deletions win has to distinguish such a tombstone from those that close the losing branches of settled
    /// conflicts; otherwise every document that was ever settled would be deleted (K2). In order:
    ///
    ///     marked as closing                                   not a deletion
    ///     marked as the deletion of a whole document          a deletion
    ///     its parent is an ancestor of the live leaf          a deletion    1-a ─┬─ 2-y
    ///                                                                            └─ 2-t (deleted)
    ///     else it closes a branch, made by a foreign peer     not a deletion
    ///
    /// A live leaf with a tombstone on its path was revived by a user who knew of the deletion, so an earlier
    /// deletion does not contradict it. If the path was stemmed down to the tombstone's generation, the tombstone
    /// may have been on it, and the live leaf stays.
    ///
    /// They are found in two passes: backward from the leaves, to find the nodes from which a live leaf descends
    /// without a tombstone in between; and forward, to find the nodes that have such a node on their own path.
    ///
    /// - Complexity: O(*n*), however the branches are entangled.
    public var disputedDeletions: [RevisionID] {
        guard nodes.count > 1, nodes.contains(where: isOpenTombstone) else { return [] }
        var leadsToLive = [Bool](repeating: false, count: nodes.count)
        var liveRoots: [Int] = []
        for index in nodes.indices.reversed() where !nodes[index].isDeleted {
            guard leadsToLive[index] || nodes[index].isLeaf else { continue }
            if let parent = nodes[index].parentIndex { leadsToLive[parent] = true } else { liveRoots.append(index) }
        }
        guard !liveRoots.isEmpty || leadsToLive.contains(true) else { return [] }
        var comesFromLive = leadsToLive
        var root = Array(nodes.indices)
        for index in nodes.indices {
            guard let parent = nodes[index].parentIndex else { continue }
            comesFromLive[index] = comesFromLive[index] || comesFromLive[parent]
            root[index] = root[parent]
        }
        return nodes.indices.reversed().filter { index in
            guard isOpenTombstone(nodes[index]) else { return false }
            let parent = nodes[index].parentIndex
            if let parent, leadsToLive[parent] { return true }
            guard nodes[index].marks.contains(.deletion) else { return false }
            if let parent, comesFromLive[parent] { return true }
            // The tombstone may have been on the stemmed part of a path.
            return liveRoots.contains {
                $0 != root[index] && nodes[$0].revision.generation <= nodes[index].revision.generation
            }
        }.map { nodes[$0].revision }
    }

    /// Whether a node is a tombstone among the leaves that may be a user's deletion.
    private func isOpenTombstone(_ node: RevisionNode) -> Bool {
        node.isLeaf && node.isDeleted && !node.marks.contains(.closing)
    }

    /// Whether one live leaf and a user's deletion contradict each other, and there is no other live leaf. This is
    /// not a conflict in CouchDB's terms (SEMANTICS 66), but is still unsettled.
    public var isContested: Bool { !isConflicted && !disputedDeletions.isEmpty }
}
