import Settle

/// Checks one document for a partly written resolution.
struct ResolutionCheck {
    let id: DocumentID
    let tree: RevisionTree
    let database: Database

    /// The violations, as text.
    func problems() throws -> [String] {
        var problems: [String] = []
        for node in tree.allNodes where node.isDeleted {
            guard let tombstone = try database.document(id, revision: node.revision) else { continue }
            let survivor = tombstone["$closed"]?.string
            if node.marks.contains(.closing) != (survivor != nil) {
                problems.append("\(id) \(node.revision) is marked as \(node.marks.rawValue) and says \(tombstone.json)")
            }
            if let survivor, RevisionID(survivor).map(tree.contains) != true {
                problems.append("\(id) \(node.revision) is closed for \(survivor), which is not there")
            }
        }
        // Only these documents have a single conflict at a time.
        return id.string.hasPrefix("c-") ? problems + halfSettled() : problems
    }

    /// Where branches part and some are closed, all but one are closed.
    private func halfSettled() -> [String] {
        var children: [RevisionID: [RevisionID]] = [:]
        for revision in tree.revisions {
            if let parent = tree.parent(of: revision) { children[parent, default: []].append(revision) }
        }
        func leaves(above revision: RevisionID) -> [RevisionNode] {
            guard let next = children[revision] else { return [tree[revision]].compactMap(\.self) }
            return next.flatMap(leaves)
        }
        return children.keys.filter { children[$0, default: []].count > 1 }.compactMap { point in
            let branches = children[point, default: []].map(leaves)
            let closed = branches.filter { $0.allSatisfy { $0.isDeleted && $0.marks.contains(.closing) } }
            let live = branches.filter { $0.contains { !$0.isDeleted } }
            guard !closed.isEmpty, live.count > 1 else { return nil }
            return "\(id) is settled by half at \(point): \(closed.count) branches closed, \(live.count) live"
        }
    }
}
