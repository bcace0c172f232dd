internal import SettleCore

/// The revisions of a document in a file, each with its parent, and what the file says of each.
struct ForeignTree<Content> {
    /// A revision.
    struct Node {
        let revision: RevisionID
        /// The index of its parent, which stands before it; `nil` if the file has none.
        let parent: Int?
        let content: Content
    }

    /// The revisions, parents before their children.
    private(set) var nodes: [Node] = []
    private var parents: Set<RevisionID> = []

    /// How many leaves a document may have.
    private static var maximumLeaves: Int { 100_000 }
    /// How many leaves a document may have for which the bases of merges are looked for, which takes quadratic time.
    private static var maximumBranches: Int { 1000 }
    /// How many entries the histories of a document's leaves may have together.
    private static var maximumEntries: Int { 4_000_000 }

    /// Adds a revision.
    ///
    /// - Returns: Its index.
    @discardableResult
    mutating func append(_ revision: RevisionID, parent: Int?, _ content: Content) -> Int {
        // A parent of another generation is not the parent: there the history ends.
        let known = parent.flatMap { nodes.indices.contains($0) ? $0 : nil }
        let direct = known.flatMap { nodes[$0].revision.generation &+ 1 == revision.generation ? $0 : nil }
        if let known { parents.insert(nodes[known].revision) }
        nodes.append(Node(revision: revision, parent: direct, content: content))
        return nodes.count - 1
    }

    /// The indices of the leaves: revisions that are no parent, each once.
    var leaves: [Int] {
        var seen: Set<RevisionID> = []
        return nodes.indices.filter { index in
            let revision = nodes[index].revision
            return !parents.contains(revision) && seen.insert(revision).inserted
        }
    }

    /// The path from a revision to its oldest known ancestor, with at most a number of revisions.
    func history(of index: Int, limit: Int) -> RevisionHistory? {
        var revisions: [RevisionID] = []
        var next: Int? = index
        while let current = next, revisions.count < limit {
            revisions.append(nodes[current].revision)
            next = nodes[current].parent
        }
        return RevisionHistory(revisions)
    }
}

// MARK: - ForeignContent

/// The content of a revision.
struct ForeignContent {
    var body: DocumentBody
    var isDeleted: Bool
    var attachments: [ForeignAttachment] = []
}

extension ForeignTree {
    /// Reads the leaves of the document, and the bases of merges if it is in conflict.
    ///
    /// - Parameters:
    ///   - id: The document's id.
    ///   - sequence: Its highest sequence.
    ///   - isDeleted: Whether a revision is a tombstone, as the tree says.
    ///   - read: Reads the content of a revision; `nil` if it is not in the file. An error about the file becomes a fault of the
    ///     document.
    /// - Returns: The document, with its faults.
    /// - Throws: ``ForeignFileError`` with code `inputOutput` if the system fails; what else `read` throws.
    func document(
        id: DocumentID, sequence: UInt64, isDeleted: KeyPath<Content, Bool>, read: (Node) throws -> ForeignContent?
    ) throws -> ForeignDocument {
        var document = ForeignDocument(id: id, sequence: sequence, leaves: [])
        let leaves = leaves
        guard leaves.count <= Self.maximumLeaves else {
            let message = "it has \(leaves.count) branches, more than \(Self.maximumLeaves)"
            document.faults = [ForeignFault(revision: nil, message: message)]
            return document
        }
        let limit = max(20, Self.maximumEntries / max(1, leaves.count))
        let deletion =
            leaves.allSatisfy { nodes[$0].content[keyPath: isDeleted] } ? leaves.map { nodes[$0].revision }.max() : nil
        for index in leaves {
            let node = nodes[index]
            guard let history = history(of: index, limit: limit) else { continue }
            do {
                guard var revision = try revision(id, history, node, node.content[keyPath: isDeleted], read) else {
                    document.faults.append(
                        ForeignFault(revision: node.revision, message: "the body is not in the file"))
                    continue
                }
                revision.isDeletionAtSource = node.revision == deletion
                document.leaves.append(revision)
            } catch let error as ForeignFileError where error.code != .inputOutput {
                document.faults.append(ForeignFault(revision: node.revision, message: error.message))
            }
        }
        if (2...Self.maximumBranches).contains(leaves.count) {
            document.bases = try bases(of: document, limit, isDeleted, read)
        }
        return document
    }

    private func revision(
        _ id: DocumentID, _ history: RevisionHistory, _ node: Node, _ isDeleted: Bool,
        _ read: (Node) throws -> ForeignContent?
    ) throws -> Revision<ForeignAttachment>? {
        // A tombstone without a body is an empty one.
        guard let content = try read(node) ?? (isDeleted ? ForeignContent(body: .empty, isDeleted: true) : nil) else {
            return nil
        }
        return Revision(
            id: id, history: history, isDeleted: isDeleted || content.isDeleted, body: content.body,
            attachments: content.attachments)
    }

    /// The revisions on which the branches part, if their contents are in the file.
    private func bases(
        of document: ForeignDocument, _ limit: Int, _ isDeleted: KeyPath<Content, Bool>,
        _ read: (Node) throws -> ForeignContent?
    ) throws -> [Revision<ForeignAttachment>] {
        var tree = RevisionTree()
        for leaf in document.leaves { tree.insert(leaf.history, isDeleted: leaf.isDeleted) }
        let points = Set(tree.branchPoints)
        var bases: [Revision<ForeignAttachment>] = []
        for (index, node) in nodes.enumerated() where points.contains(node.revision) && parents.contains(node.revision)
        {
            guard let history = history(of: index, limit: limit) else { continue }
            do {
                guard let content = try read(node) else { continue }
                bases.append(
                    Revision(
                        id: document.id, history: history,
                        isDeleted: node.content[keyPath: isDeleted] || content.isDeleted,
                        body: content.body, attachments: content.attachments))
            } catch let error as ForeignFileError where error.code != .inputOutput { continue }
        }
        return bases
    }
}
