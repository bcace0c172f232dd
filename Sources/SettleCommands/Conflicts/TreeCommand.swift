internal import Settle
import SettleDatabase
import SettleServer

/// `settle tree`: draws the revisions of a document.
enum TreeCommand: Command {
    static let spec = CommandSpec(
        "tree", "draw the revision tree of a document",
        discussion: """
            The oldest revision is on top. ● has a stored body, ○ has none any more, ✕ is a tombstone: a user's \
            deletion, or one that closes a branch in favour of the surviving revision. In a conflict the merge base is \
            labelled, and the side of each leaf if one was replicated. Long chains are folded. At CouchDB it \
            is unknown which leaves were replicated, and which old tombstones were deletions.
            """,
        operands: [.database, .document],
        options: [Option("--full", "draw every revision")],
        examples: [
            CommandSpec.Example("settle tree groceries milk", "shows its branches and the winner"),
            CommandSpec.Example("settle tree groceries milk --full", "draws long runs of revisions too"),
        ],
        json: """
            {"id":…,"winner":…,"conflicts":[revision …],"revisions":[{"rev":…,"parent":revision or null,\
            "leaf":bool,"deleted":bool,"stored":bool,"base":bool} …]}, a closing tombstone with "closed_for":revision, a \
            user's deletion with "deletion":true, a leaf from elsewhere with "remote":true
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        let console = invocation.console
        return try invocation.withClient { client in
            let state = try client.state(of: id, .stored)
            let tree = state.tree
            guard let winner = tree.winner else { throw state.missing }
            let closings = closings(of: tree, state.document)
            if console.isJSON {
                try console.print(json(id, tree, winner.revision, closings).description)
                return .success
            }
            try console.printNote(console.styled(summary(id, tree), .bold))
            let drawing = TreeDrawing(
                tree, isFull: invocation.arguments.flag("--full"), closings: closings, styled: console.styled)
            for line in drawing.lines { try console.print(line) }
            return .success
        }
    }

    private static func summary(_ id: DocumentID, _ tree: RevisionTree) -> String {
        let leaves = tree.leaves.count == 1 ? [] : ["\(tree.leaves.count) leaves"]
        let conflicts = tree.isConflicted ? [Quantity.of(tree.conflicts.count, "conflict")] : []
        let deleted = tree.isDeleted ? ["deleted"] : []
        return "\(id): "
            + ([Quantity.of(tree.count, "revision")] + leaves + conflicts + deleted)
            .joined(separator: ", ")
    }

    /// The closing tombstones of a tree, with the revisions that survived.
    private static func closings(
        of tree: RevisionTree, _ document: (RevisionID) -> Document?
    ) -> [RevisionID: RevisionID] {
        var closings: [RevisionID: RevisionID] = [:]
        for node in tree.leaves where node.marks.contains(.closing) {
            let survivor = document(node.revision)?["$closed"]?.string
            closings[node.revision] = survivor.flatMap { RevisionID($0) }
        }
        return closings
    }

    private static func json(
        _ id: DocumentID, _ tree: RevisionTree, _ winner: RevisionID, _ closings: [RevisionID: RevisionID]
    ) -> JSONValue {
        let bases = Set(tree.branchPoints)
        let deletions = Set(tree.disputedDeletions)
        let revisions = tree.allNodes.map { node -> JSONValue in
            let revision = node.revision
            let isStored = node.bodyToken != BodyToken.none
            var row: JSONValue = [
                "rev": .string(revision.description), "parent": SettlementJSON.revision(tree.parent(of: revision)),
                "leaf": .bool(node.isLeaf), "deleted": .bool(node.isDeleted), "stored": .bool(isStored),
                "base": .bool(bases.contains(revision) && isStored),
            ]
            if let survivor = closings[revision] { row["closed_for"] = SettlementJSON.revision(survivor) }
            if node.marks.contains(.deletion) || deletions.contains(revision) { row["deletion"] = true }
            if node.isLeaf, node.marks.contains(.incoming) { row["remote"] = true }
            return row
        }
        return [
            "id": .string(id.string), "winner": .string(winner.description),
            "conflicts": .array(tree.conflicts.map { .string($0.description) }), "revisions": .array(revisions),
        ]
    }
}

// MARK: - TreeDrawing

/// Draws a document's revision tree, the oldest revision on top.
///
///     ○ 1-967a00df…
///     ● 2-7051cbe5…  base
///     ├─● 3-825cb35d…  winner, local
///     ├─● 3-64f5a0b3…  conflict, remote
///     └─○ 3-1f0c2b77…
///       ┊ … 37 more …
///       ✕ 41-b6ecfb43…  closed for 3-825cb35d…
///
/// A filled mark has a stored body. In a conflict the stored bases are labelled, and the sides of its leaves if one was
/// replicated. A chain of revisions without branches is folded unless all revisions are requested. Stemmed ancestors are a dotted
/// line above the root.
struct TreeDrawing {
    private let tree: RevisionTree
    private let isFull: Bool
    private let styled: (String, Style) -> String
    private let children: [RevisionID: [RevisionID]]
    private let roots: [RevisionID]
    private let winner: RevisionID?
    private let closings: [RevisionID: RevisionID]
    private let deletions: Set<RevisionID>
    private let bases: Set<RevisionID>
    private let hasSides: Bool
    /// Chains with more inner revisions than this are folded.
    private static let longestChain = 7
    /// The number of revisions that are shown at each end of a folded chain.
    private static let ends = 2

    /// Creates a drawing of a tree; `closings` are its closing tombstones with the surviving revisions.
    init(
        _ tree: RevisionTree, isFull: Bool = false, closings: [RevisionID: RevisionID] = [:],
        styled: @escaping (String, Style) -> String = { text, _ in text }
    ) {
        self.tree = tree
        self.closings = closings
        let deletions = Set(tree.disputedDeletions)
        self.deletions = deletions
        bases = Set(tree.branchPoints)
        let disputed = tree.leaves.filter { $0.isDeleted ? deletions.contains($0.revision) : true }
        hasSides = disputed.count > 1 && disputed.contains { $0.marks.contains(.incoming) }
        self.isFull = isFull
        self.styled = styled
        winner = tree.winner?.revision
        var main: Set<RevisionID> = []
        if let winner { main.formUnion(tree.history(of: winner)?.revisions ?? []) }
        // The winner's branch is first, then the higher revision.
        func precedes(_ left: RevisionID, _ right: RevisionID) -> Bool {
            let (isLeftMain, isRightMain) = (main.contains(left), main.contains(right))
            return isLeftMain == isRightMain ? left > right : isLeftMain
        }
        var children: [RevisionID: [RevisionID]] = [:]
        var roots: [RevisionID] = []
        for revision in tree.revisions {
            if let parent = tree.parent(of: revision) {
                children[parent, default: []].append(revision)
            } else {
                roots.append(revision)
            }
        }
        self.children = children.mapValues { $0.sorted(by: precedes) }
        self.roots = roots.sorted(by: precedes)
    }

    /// The lines of the drawing.
    var lines: [String] {
        var lines: [String] = []
        // The subtrees to draw, the next one last: a root or a branch, with the text before it.
        var rest = roots.reversed().map { (start: $0, first: "", others: "", isRoot: true) }
        while let branch = rest.popLast() {
            if branch.isRoot, branch.start.generation > 1 {
                let count = branch.start.generation - 1
                lines.append(styled("┊ \(count) older revision\(count == 1 ? "" : "s") stemmed", .faint))
            }
            let chain = chain(from: branch.start)
            for (index, line) in folded(chain).enumerated() {
                lines.append((index == 0 ? branch.first : branch.others) + line)
            }
            let next = chain.last.flatMap { children[$0] } ?? []
            for (index, child) in next.enumerated().reversed() {
                let isLast = index == next.count - 1
                rest.append(
                    (
                        child, branch.others + styled(isLast ? "└─" : "├─", .faint),
                        branch.others + (isLast ? "  " : styled("│ ", .faint)), false
                    ))
            }
        }
        return lines
    }

    /// The revisions from one down to the next branch or end.
    private func chain(from start: RevisionID) -> [RevisionID] {
        var chain = [start]
        while let last = chain.last, let next = children[last], next.count == 1 { chain += next }
        return chain
    }

    private func folded(_ chain: [RevisionID]) -> [String] {
        guard !isFull, chain.count > Self.longestChain else { return chain.map(line) }
        let hidden = chain.dropFirst(Self.ends).dropLast(Self.ends)
        let kept = hidden.count { tree[$0].map(isKept) ?? false }
        let note = kept > 0 ? ", \(kept) with bodies" : ""
        return chain.prefix(Self.ends).map(line)
            + [styled("┊ … \(hidden.count) more\(note) …", .faint)]
            + chain.suffix(Self.ends).map(line)
    }

    private func line(_ revision: RevisionID) -> String {
        guard let node = tree[revision] else { return "" }
        let mark = node.isDeleted ? "✕" : isKept(node) ? "●" : "○"
        guard node.isLeaf else {
            if node.isDeleted { return "\(styled("\(mark) \(revision)", .faint))  deleted" }
            let isBase = bases.contains(revision) && isKept(node)
            return "\(mark) \(revision)" + (isBase ? "  " + styled("base", .blue) : "")
        }
        let words = words(node)
        let text = "\(mark) \(revision)"
        let shown = revision == winner ? styled(text, .bold) : node.isDeleted ? styled(text, .faint) : text
        return "\(shown)  \(words.joined(separator: ", "))"
    }

    /// The labels of a leaf.
    private func words(_ leaf: RevisionNode) -> [String] {
        let revision = leaf.revision
        let isDisputed = deletions.contains(revision)
        var words: [String] = []
        if revision == winner { words.append(styled("winner", .green)) }
        if let survivor = closings[revision] {
            words.append(styled("closed for \(survivor.abbreviated)", .faint))
        } else if isDisputed || leaf.marks.contains(.deletion) {
            words.append(styled("deleted by a user", isDisputed ? .red : .faint))
        } else if leaf.isDeleted {
            words.append(styled("deleted", .faint))
        }
        if !leaf.isDeleted, revision != winner { words.append(styled("conflict", .red)) }
        if hasSides, isDisputed || !leaf.isDeleted {
            words.append(leaf.marks.contains(.incoming) ? "remote" : "local")
        }
        return words
    }

    private func isKept(_ node: RevisionNode) -> Bool { node.bodyToken != BodyToken.none }
}
