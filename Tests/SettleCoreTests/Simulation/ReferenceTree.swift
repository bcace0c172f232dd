import SettleCore

/// The expected behavior of a revision tree, written as plainly as possible: every revision with its parent, and
/// CouchDB's rule for the winner computed from the printed ids.
struct ReferenceTree: Equatable {
    private(set) var parents: [RevisionID: RevisionID?] = [:]
    private(set) var deleted: Set<RevisionID> = []
    private(set) var marks: [RevisionID: Set<Mark>] = [:]

    /// Further facts about a revision, one by one.
    enum Mark: UInt8, CaseIterable {
        case closing = 1
        case deletion = 2
        case incoming = 4
    }

    init() {}

    init(_ tree: RevisionTree) {
        for node in tree.allNodes {
            parents.updateValue(tree.parent(of: node.revision), forKey: node.revision)
            if node.isDeleted { deleted.insert(node.revision) }
            for mark in Mark.allCases where node.marks.rawValue & mark.rawValue != 0 {
                marks[node.revision, default: []].insert(mark)
            }
        }
    }

    mutating func insert(_ history: RevisionHistory, isDeleted: Bool) {
        let revisions = history.revisions
        if isDeleted, parents[revisions[0]] == nil { deleted.insert(revisions[0]) }
        for (index, revision) in revisions.enumerated() {
            add(revision, parent: index + 1 < revisions.count ? revisions[index + 1] : nil)
        }
    }

    mutating func merge(_ other: ReferenceTree) {
        for (revision, parent) in other.parents { add(revision, parent: parent) }
        deleted.formUnion(other.deleted)
        marks.merge(other.marks) { $0.union($1) }
    }

    private mutating func add(_ revision: RevisionID, parent: RevisionID?) {
        if let known = parents[revision], known != nil { return }
        parents.updateValue(parent, forKey: revision)
    }

    var leaves: Set<RevisionID> { Set(parents.keys).subtracting(parents.values.compactMap(\.self)) }

    /// The leaves as CouchDB sorts them: live ones first, then by generation, then by the bytes of the suffix.
    var sortedLeaves: [RevisionID] {
        leaves.sorted { first, second in
            if deleted.contains(first) != deleted.contains(second) { return deleted.contains(second) }
            let (left, right) = (Self.parts(of: first), Self.parts(of: second))
            return left.generation != right.generation
                ? left.generation > right.generation : right.suffix.lexicographicallyPrecedes(left.suffix)
        }
    }

    private static func parts(of revision: RevisionID) -> (generation: Int, suffix: [UInt8]) {
        let text = revision.description
        let dash = text.firstIndex(of: "-") ?? text.endIndex
        let suffix = Array(text[dash...].utf8.dropFirst())
        guard suffix.count == 32 else { return (Int(text[..<dash]) ?? -1, suffix) }
        let digits = suffix.map { Int(String(UnicodeScalar($0)), radix: 16) ?? -1 }
        let bytes = stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        return (Int(text[..<dash]) ?? -1, bytes)
    }

    /// The path from a revision to its root, newest first.
    func path(from revision: RevisionID) -> [RevisionID] {
        var path = [revision]
        while let parent = parents[path[path.count - 1]] ?? nil { path.append(parent) }
        return path
    }

    /// Keeps the newest `limit` revisions of every path.
    mutating func stem(to limit: Int) { keep(Set(leaves.flatMap { path(from: $0).prefix(limit) })) }

    /// Drops leaves, and revisions that lead to no other leaf.
    mutating func purge(_ revisions: [RevisionID]) {
        keep(Set(leaves.subtracting(revisions).flatMap { path(from: $0) }))
    }

    private mutating func keep(_ kept: Set<RevisionID>) {
        parents = parents.filter { kept.contains($0.key) }
        for (revision, parent) in parents {
            if let parent, !kept.contains(parent) { parents.updateValue(nil, forKey: revision) }
        }
        deleted.formIntersection(kept)
        marks = marks.filter { kept.contains($0.key) }
    }

    /// The tombstones that contradict a live leaf, by the literal rule K2: path by path.
    var disputedDeletions: Set<RevisionID> {
        let live = leaves.subtracting(deleted)
        return leaves.intersection(deleted).filter { tombstone in
            let isMarked = marks[tombstone, default: []]
            if isMarked.contains(.closing) { return false }
            return live.contains { leaf in
                let (dead, alive) = (path(from: tombstone), path(from: leaf))
                let common = dead.first { alive.contains($0) }
                // A writer that revived the document has seen it deleted.
                let since = alive.prefix { $0 != common }
                if since.contains(where: deleted.contains) { return false }
                // A path that was cut above the tombstone may have included it.
                if common == nil, let root = alive.last, root.generation > tombstone.generation { return false }
                return isMarked.contains(.deletion) || (common != nil && dead.count > 1 && dead[1] == common)
            }
        }
    }

    /// Whether exactly one live leaf contradicts a deletion.
    var isContested: Bool { leaves.subtracting(deleted).count == 1 && !disputedDeletions.isEmpty }
}

extension RevisionTree {
    /// The difference from the plain model as text; `nil` if both are equal.
    func difference(from model: ReferenceTree) -> String? {
        if let broken = brokenInvariant { return "broken invariant: \(broken)" }
        let own = ReferenceTree(self)
        guard own.parents == model.parents else { return "tree \(edges), expected \(model.parents)" }
        guard leaves.map(\.revision) == model.sortedLeaves else {
            return "leaves \(leafNotation), expected \(model.sortedLeaves)"
        }
        guard winner?.revision == model.sortedLeaves.first else { return "winner \(String(describing: winner))" }
        guard own.deleted.intersection(model.leaves) == model.deleted.intersection(model.leaves) else {
            return "deleted leaves of \(leafNotation), expected \(model.deleted)"
        }
        return nil
    }
}
