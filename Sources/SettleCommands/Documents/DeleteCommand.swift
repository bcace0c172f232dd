internal import Settle

/// `settle delete`: stores a tombstone.
enum DeleteCommand: Command {
    static let spec = CommandSpec(
        "delete", "delete a document, and write the revision of its tombstone",
        discussion: """
            The deletion replicates. In a document with conflicts only the leaf of the given revision is deleted. To \
            remove a document from this database only, see `settle purge`. A document whose id starts with _local/ is \
            removed without a tombstone; of these the last write wins, and --rev, --force and --keep are refused.
            """,
        operands: [.database, .document],
        options: [
            Option("--rev", value: "REV", "the revision to delete"),
            Option("--force", "delete the current revision"),
            Option("--keep", value: "NAME", isRepeatable: true, "a member the tombstone keeps, for filters"),
        ],
        examples: [
            CommandSpec.Example(
                "settle delete groceries milk --rev 2-c7cfa8a3cd9f5a1b7a5e4b6a8a6d0a11", "deletes this revision"),
            CommandSpec.Example(
                "settle delete groceries milk --force --keep owner", "deletes the winner, keeps its owner"),
        ],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let id = try invocation.documentID()
        try invocation.refuse(["--rev", "--force", "--keep"], ofLocal: id)
        try arguments.refuse("--force", with: "--rev")
        let revision = try invocation.revision()
        let written = try invocation.retrying(arguments.flag("--force") || id.isLocal) {
            try invocation.withClient { client in
                if id.isLocal { return try deleteLocal(id, client) }
                let document = try document(client.state(of: id), revision, arguments)
                return try client.delete(document, keeping: arguments.texts("--keep")).description
            }
        }
        try invocation.print(id, written)
        return .success
    }

    private static func document(
        _ state: DocumentState, _ revision: RevisionID?, _ arguments: Arguments
    ) throws -> Document {
        if let revision { return try state.document(toEdit: revision, force: .delete) }
        guard let current = state.shown, let winner = current.revision else {
            throw CommandError.notFound("there is no document \"\(state.id)\" to delete")
        }
        guard arguments.flag("--force") else {
            throw DocumentState.conflict("refusing to delete \"\(state.id)\" without --rev", winner, force: .delete)
        }
        return current
    }

    private static func deleteLocal(_ id: DocumentID, _ client: Client) throws -> String {
        guard try client.deleteLocalDocument(id) else {
            throw CommandError.notFound("there is no document \"\(id)\" to delete")
        }
        return "0-0"
    }
}
