internal import SettleCore
internal import SettleDatabase

/// A revision tree as JSON, with long chains folded.
///
///     1-a ── 2-b ── … ── 38-y ─┬─ 39-z      rows: 1-a, a fold of 36 from 2-b to 37-x, 38-y, 39-z, 39-q
///                              └─ 39-q
struct ConflictTree {
    let database: Database
    let record: DocumentRecord

    /// How much of a tree the answer has.
    enum Form: String {
        case folded, full
    }

    /// A tree with more rows is folded though all of it was asked for.
    private static let maximumRows = 2000
    /// A chain of fewer revisions is not folded.
    private static let shortest = 3

    /// The rows in the order of revisions, a parent before its children.
    func json(_ form: Form) throws -> JSONValue {
        let tree = record.tree
        let nodes = tree.allNodes
        var children: [RevisionID: Int] = [:]
        for node in nodes { if let parent = tree.parent(of: node.revision) { children[parent, default: 0] += 1 } }
        let bases = Set(tree.branchPoints)
        let isFolded = form == .folded || nodes.count > Self.maximumRows
        func isPlain(_ node: RevisionNode) -> Bool {
            isFolded && !node.isLeaf && children[node.revision] == 1 && !bases.contains(node.revision)
                && tree.parent(of: node.revision).map { children[$0] == 1 } == true
        }
        // The chains of plain revisions: each revision joins that of its parent.
        var chains: [[RevisionNode]] = []
        var chainOf: [RevisionID: Int] = [:]
        var rows: [(place: Int, chain: Int?)] = []
        for (place, node) in nodes.enumerated() {
            guard isPlain(node) else {
                rows.append((place, nil))
                continue
            }
            if let parent = tree.parent(of: node.revision), let chain = chainOf[parent] {
                chains[chain].append(node)
                chainOf[node.revision] = chain
            } else {
                chainOf[node.revision] = chains.count
                rows.append((place, chains.count))
                chains.append([node])
            }
        }
        let deletions = Set(tree.disputedDeletions)
        let told = try rows.flatMap { place, chain -> [JSONValue] in
            guard let chain else { return [try row(nodes[place], bases, deletions)] }
            let folded = chains[chain]
            guard folded.count >= Self.shortest, let first = folded.first, let last = folded.last else {
                return try folded.map { try row($0, bases, deletions) }
            }
            return [
                [
                    "folded": .number(JSONNumber(folded.count)),
                    "parent": SettlementJSON.revision(tree.parent(of: first.revision)),
                    "from": SettlementJSON.revision(first.revision), "to": SettlementJSON.revision(last.revision),
                ]
            ]
        }
        return ["count": .number(JSONNumber(nodes.count)), "revisions": .array(told)]
    }

    private func row(
        _ node: RevisionNode, _ bases: Set<RevisionID>, _ deletions: Set<RevisionID>
    ) throws -> JSONValue {
        let (revision, isStored) = (node.revision, node.bodyToken != BodyToken.none)
        var row: JSONValue = [
            "rev": .string(revision.description), "parent": SettlementJSON.revision(record.tree.parent(of: revision)),
            "leaf": .bool(node.isLeaf), "deleted": .bool(node.isDeleted), "stored": .bool(isStored),
        ]
        if bases.contains(revision), isStored { row["base"] = true }
        if node.isLeaf, node.marks.contains(.closing) {
            let survivor = try database.content(of: revision, in: record)?.body["$closed"]
            if let survivor { row["closed_for"] = survivor }
        }
        if node.marks.contains(.deletion) || deletions.contains(revision) { row["deletion"] = true }
        if node.isLeaf, node.marks.contains(.incoming) { row["remote"] = true }
        return row
    }
}
