/// The edit history of one document, with every branch that replication has added.
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
/// precedes it, and the array is in topological order:
///
///     index      0     1     2     3
///     revision  1-a   2-b   3-9   3-c
///     parent     –     0     1     1
///     superseded ✓     ✓     –     –
///
/// Sorted order makes the array canonical: the same revisions with the same marks are equal trees with equal packed
/// bytes, independent of the order of arrival. *Merging is set union*: nodes are matched by id and a parent known on
/// one side fills a gap on the other. So a stemmed root is joined to its parent again when an older path arrives
/// (apache/couchdb#2501), and merging is commutative.
///
/// A node that once had a child stays `superseded` even if a peer with a broken history claims another parent for
/// that child; so merging never turns an inner revision back into a leaf.
///
/// ## Invariants
/// - Nodes are strictly ascending by revision id; a parent's generation is one below its child's.
/// - A node with a child is superseded, the last node never is: a tree that is not empty has a leaf, and so has the
///   union of any two.
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

    /// The number of revisions, inner ones included.
    public var count: Int { nodes.count }

    /// Every revision in ascending order, parents before their children.
    ///
    /// - Complexity: O(*n*).
    public var revisions: [RevisionID] { nodes.map(\.revision) }

    /// Whether the tree has this revision, as a leaf or an inner node.
    ///
    /// - Complexity: O(log *n*).
    public func contains(_ revision: RevisionID) -> Bool { index(of: revision) != nil }

    /// The node of a revision, or `nil` when the tree does not have it.
    ///
    /// - Complexity: O(log *n*).
    public subscript(revision: RevisionID) -> RevisionNode? { index(of: revision).map { nodes[$0] } }

    /// The revision an edit was made on, or `nil` for a root, stemmed or not, and for an unknown revision.
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

    /// Whether a node comes before a revision; generations nearly always differ, so no signature is copied.
    @inline(__always)
    private func isNode(_ index: Int, below revision: RevisionID) -> Bool {
        let generation = nodes[index].revision.generation
        if generation != revision.generation { return generation < revision.generation }
        return nodes[index].revision.signature < revision.signature
    }
}

extension RevisionTree {
    /// The leaf that every peer shows for the document, or `nil` in an empty tree.
    ///
    /// The rule is CouchDB's (SEMANTICS 63): a live leaf before a deleted one, then the higher generation as a
    /// number, then the higher signature. Nodes are in that order, so it is the last live leaf, otherwise the last
    /// leaf.
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

    /// Every leaf, the winner first: live leaves before deleted ones, each kind by descending id.
    ///
    /// - Complexity: O(*n*).
    public var leaves: [RevisionNode] {
        let leaves = nodes.reversed().filter(\.isLeaf)
        return leaves.filter { !$0.isDeleted } + leaves.filter(\.isDeleted)
    }

    /// The live leaves that are not the winner: CouchDB's `_conflicts`, highest id first.
    public var conflicts: [RevisionID] { leaves.dropFirst().filter { !$0.isDeleted }.map(\.revision) }

    /// The deleted leaves that are not the winner: CouchDB's `_deleted_conflicts`, highest id first.
    public var deletedConflicts: [RevisionID] { leaves.dropFirst().filter(\.isDeleted).map(\.revision) }

    /// Whether there are two or more live leaves (SEMANTICS 61); leaves that are tombstones do not count (66).
    public var isConflicted: Bool {
        var live = 0
        for node in nodes where node.isLeaf && !node.isDeleted { live += 1 }
        return live > 1
    }

    /// Whether every leaf is a tombstone, so that the document is deleted (SEMANTICS 201); an empty tree is not.
    public var isDeleted: Bool { winner?.isDeleted ?? false }
}
