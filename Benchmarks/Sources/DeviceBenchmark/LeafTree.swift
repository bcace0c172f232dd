/// The revisions of a document that a device knows.
struct LeafTree {
    private struct Node {
        let revision: Revision
        /// The place of the parent, or below zero.
        let parent: Int32
        var isLeaf: Bool
        let isDeleted: Bool
    }

    private var nodes: [Node] = []

    func knows(_ revision: Revision) -> Bool { place(of: revision) != nil }

    /// Adds a revision with its ancestors, the newest first; does nothing if it is known.
    mutating func insert(_ history: [Revision], isDeleted: Bool) {
        var parent: Int32 = -1
        for (index, revision) in history.enumerated().reversed() {
            if let known = place(of: revision) {
                if index > 0 { nodes[known].isLeaf = false }
                parent = Int32(known)
            } else {
                nodes.append(
                    Node(revision: revision, parent: parent, isLeaf: index == 0, isDeleted: index == 0 && isDeleted))
                parent = Int32(nodes.count - 1)
            }
        }
    }

    /// The leaves, as a set.
    var leaves: Set<Revision> { Set(nodes.lazy.filter(\.isLeaf).map(\.revision)) }

    /// The leaves that are not deleted, the winner first.
    var living: [Revision] { nodes.filter { $0.isLeaf && !$0.isDeleted }.map(\.revision).sorted(by: >) }

    /// The leaf that a reader gets: a living one before a deleted one, then the greatest.
    var winner: Revision? { living.first ?? nodes.lazy.filter(\.isLeaf).map(\.revision).max() }

    /// A revision and its ancestors, the newest first.
    func history(of revision: Revision) -> [Revision] {
        var history: [Revision] = []
        var next = place(of: revision) ?? -1
        while next >= 0 {
            history.append(nodes[next].revision)
            next = Int(nodes[next].parent)
        }
        return history
    }

    func isDeleted(_ revision: Revision) -> Bool { place(of: revision).map { nodes[$0].isDeleted } ?? false }

    private func place(of revision: Revision) -> Int? { nodes.lastIndex { $0.revision == revision } }
}
