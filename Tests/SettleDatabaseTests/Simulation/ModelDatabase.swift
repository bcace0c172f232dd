import Settle

/// The expected content of a database, written as plainly as possible.
struct ModelDatabase {
    struct Revision: Equatable {
        var parent: RevisionID?
        var isDeleted: Bool
        var body: DocumentBody
        var attachments: [String: [UInt8]] = [:]
    }

    private(set) var trees: [DocumentID: [RevisionID: Revision]] = [:]
    /// The ids in the order of their last changes.
    private(set) var order: [DocumentID] = []

    /// The leaves of a document, the winner first.
    func leaves(_ id: DocumentID) -> [RevisionID] {
        let tree = trees[id] ?? [:]
        let parents = Set(tree.values.compactMap(\.parent))
        return tree.keys.filter { !parents.contains($0) }.sorted { left, right in
            let (isGone, isRightGone) = (tree[left]?.isDeleted ?? true, tree[right]?.isDeleted ?? true)
            return isGone == isRightGone ? left > right : isRightGone
        }
    }

    func liveLeaves(_ id: DocumentID) -> [RevisionID] { leaves(id).filter { trees[id]?[$0]?.isDeleted == false } }

    /// The leaves that are tombstones and don't close a branch.
    func openDeletions(_ id: DocumentID) -> [RevisionID] {
        leaves(id).filter { revision in
            guard let leaf = trees[id]?[revision] else { return false }
            return leaf.isDeleted && leaf.body["$closed"] == nil
        }
    }

    /// A revision and its ancestors, newest first.
    func path(_ revision: RevisionID, in id: DocumentID) -> [RevisionID] {
        [revision] + (trees[id]?[revision]?.parent.map { path($0, in: id) } ?? [])
    }

    mutating func put(_ revision: RevisionID, _ content: Revision, in id: DocumentID) {
        trees[id, default: [:]][revision] = content
        touch(id)
    }

    mutating func purge(_ leaf: RevisionID, in id: DocumentID) {
        var doomed: RevisionID? = leaf
        while let revision = doomed, leaves(id).contains(revision) {
            doomed = trees[id]?[revision]?.parent
            trees[id]?[revision] = nil
        }
        touch(id)
        if trees[id]?.isEmpty == true {
            trees[id] = nil
            order.removeLast()
        }
    }

    /// Records that a document was written.
    mutating func touch(_ id: DocumentID) {
        order.removeAll { $0 == id }
        order.append(id)
    }
}
