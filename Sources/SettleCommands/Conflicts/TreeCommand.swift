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
            labelled, and the side of each leaf if one was replicated. Long chains are folded. For a document at a \
            server it is unknown which leaves were replicated, and which old tombstones were deletions.
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
            let closings = try closings(of: tree, state.document)
            if console.isJSON {
                try console.print(json(id, tree, winner.revision, closings).description)
                return .success
            }
            try console.note(console.styled(summary(id, tree), .bold))
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
        of tree: RevisionTree, _ document: (RevisionID) throws -> Document?
    ) throws -> [RevisionID: RevisionID] {
        var closings: [RevisionID: RevisionID] = [:]
        for node in tree.leaves where node.marks.contains(.closing) {
            let survivor = try document(node.revision)?["$closed"]?.string
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
