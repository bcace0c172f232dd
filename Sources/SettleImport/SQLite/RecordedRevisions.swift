internal import SettleCore

/// The revisions of one document as a database lists them: in any order, some of them several times, and each with the id of its
/// parent.
struct RecordedRevisions<Content> {
    private var parents: [RevisionID: RevisionID] = [:]
    private var contents: [RevisionID: Content] = [:]

    /// Adds a revision. Of one that is added again the last content counts, and the best parent.
    mutating func add(_ revision: RevisionID, parent: RevisionID?, _ content: Content) {
        contents[revision] = content
        // A parent is older than its child; anything else would make a circle.
        guard let parent, parent.generation < revision.generation else { return }
        if parent.generation + 1 == revision.generation || parents[revision] == nil { parents[revision] = parent }
    }

    /// The content of a revision.
    subscript(revision: RevisionID) -> Content? {
        get { contents[revision] }
        set { contents[revision] = newValue }
    }

    /// The tree of the revisions.
    var tree: ForeignTree<Content> {
        var (tree, indices) = (ForeignTree<Content>(), [RevisionID: Int]())
        for (revision, content) in contents.sorted(by: { $0.key < $1.key }) {
            indices[revision] = tree.append(revision, parent: parents[revision].flatMap { indices[$0] }, content)
        }
        return tree
    }
}

extension ForeignTree {
    /// The revision that every peer shows: a live leaf before a tombstone, then the highest.
    func winner(isDeleted: KeyPath<Content, Bool>) -> RevisionID? {
        let leaves = leaves.map { nodes[$0] }
        let live = leaves.filter { !$0.content[keyPath: isDeleted] }
        return (live.isEmpty ? leaves : live).map(\.revision).max()
    }

    /// The leaves.
    var leafRevisions: Set<RevisionID> { Set(leaves.map { nodes[$0].revision }) }
}
