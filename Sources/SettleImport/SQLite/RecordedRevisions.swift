internal import SettleCore

/// The revisions of one document of another product, each with the parent that the product recorded.
///
/// Unlike ``RevisionTree`` it takes what a file says, gaps and circles included.
struct RecordedRevisions {
    /// A revision.
    struct Node {
        /// The revision that it was made on, as far as the file has it.
        fileprivate(set) var parent: RevisionID?
        /// Whether it is a tombstone.
        var isDeleted: Bool
        /// Whether another revision was made on it.
        fileprivate(set) var isSuperseded = false
    }

    /// The revisions.
    private(set) var nodes: [RevisionID: Node] = [:]

    /// Adds a revision. One that is added again gets a parent if it had none.
    mutating func add(_ revision: RevisionID, parent: RevisionID?, isDeleted: Bool) {
        // A parent is older than its child; anything else would make a circle.
        let parent = parent.flatMap { $0.generation < revision.generation ? $0 : nil }
        if let known = nodes[revision] {
            if known.parent == nil || parent?.generation == revision.generation - 1 {
                nodes[revision]?.parent = parent ?? known.parent
            }
            nodes[revision]?.isDeleted = isDeleted
        } else {
            nodes[revision] = Node(parent: parent, isDeleted: isDeleted, isSuperseded: superseded.contains(revision))
        }
        guard let parent else { return }
        superseded.insert(parent)
        nodes[parent]?.isSuperseded = true
    }

    /// Revisions with children, also those that are added later.
    private var superseded: Set<RevisionID> = []

    /// The revisions on which no other one was made, ascending.
    var leaves: [RevisionID] { nodes.filter { !$0.value.isSuperseded }.keys.sorted() }

    /// The leaf that every peer shows: a live one before a tombstone, then the highest.
    var winner: RevisionID? {
        leaves.max { left, right in
            let (one, other) = (nodes[left]?.isDeleted ?? true, nodes[right]?.isDeleted ?? true)
            return one == other ? left < right : one
        }
    }

    /// How many entries the histories of a document's leaves may have together.
    private static let maximumEntries = 4_000_000
    /// How many branches a document may have for which the bases of merges are read.
    private static let maximumBranches = 1000
    /// How long a history may be.
    private var maximumHistory: Int { max(20, Self.maximumEntries / max(1, nodes.count - superseded.count)) }

    /// A revision with its ancestors. It ends where the file lacks one and at a gap of generations.
    func history(of revision: RevisionID) -> RevisionHistory {
        let limit = maximumHistory
        var path = [revision]
        while path.count < limit, let last = path.last, let parent = nodes[last]?.parent,
            parent.generation == last.generation - 1, nodes[parent] != nil
        {
            path.append(parent)
        }
        return RevisionHistory(path) ?? RevisionHistory(revision)
    }

    /// The revisions at which branches part that are to be settled, ascending.
    var branchPoints: [RevisionID] {
        let leaves = leaves
        guard leaves.count > 1, leaves.count <= Self.maximumBranches else { return [] }
        var tree = RevisionTree()
        for leaf in leaves { _ = tree.insert(history(of: leaf), isDeleted: nodes[leaf]?.isDeleted ?? false) }
        return tree.branchPoints
    }
}
