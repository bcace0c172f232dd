internal import Settle

/// `settle tree`: draws the revisions of a document.
enum TreeVerb: Verb {
    static let guide = Guide(
        "tree", "draw the revision tree of a document",
        discussion: """
            The oldest revision is on top. ● has a body that is kept, ○ has none any more, ✕ is a tombstone. Long chains are \
            folded.
            """,
        operands: [.database, .document],
        options: [Option("--full", "draw every revision")],
        examples: [Guide.Example("settle tree groceries milk", "shows where its branches part, and which one wins")],
        json: """
            {"id":…,"winner":…,"conflicts":[revision …],"revisions":[{"rev":…,"parent":revision or null,\
            "leaf":bool,"deleted":bool,"stored":bool} …]}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        let console = invocation.console
        return try invocation.withDatabase { database in
            guard let tree = try database.tree(of: id), let winner = tree.winner else {
                throw CommandError.notFound("there is no document \"\(id)\"")
            }
            if console.isJSON {
                try console.print(json(id, tree, winner.revision).description)
                return .success
            }
            try console.note(console.styled(summary(id, tree), .bold))
            let drawing = TreeDrawing(tree, isFull: invocation.arguments.flag("--full"), styled: console.styled)
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

    private static func json(_ id: DocumentID, _ tree: RevisionTree, _ winner: RevisionID) -> JSON {
        [
            "id": .string(id.string), "winner": .string(winner.description),
            "conflicts": .array(tree.conflicts.map { .string($0.description) }),
            "revisions": .array(
                tree.allNodes.map { node in
                    [
                        "rev": .string(node.revision.description),
                        "parent": tree.parent(of: node.revision).map { .string($0.description) } ?? .null,
                        "leaf": .bool(node.isLeaf), "deleted": .bool(node.isDeleted),
                        "stored": .bool(node.bodyToken != BodyToken.none),
                    ]
                }),
        ]
    }
}
