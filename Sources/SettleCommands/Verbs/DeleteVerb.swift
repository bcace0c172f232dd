internal import Settle

/// `settle delete`: stores a tombstone.
enum DeleteVerb: Verb {
    static let guide = Guide(
        "delete", "delete a document, and write the revision of its tombstone",
        discussion: """
            The deletion replicates. In a document with conflicts only the leaf of the given revision goes. To forget a \
            document in this database alone, see `settle purge`.
            """,
        operands: [.database, .document],
        options: [
            Option("--rev", value: "REV", "the revision to delete"),
            Option("--force", "delete whatever is stored"),
            Option("--keep", value: "NAME", isRepeatable: true, "a member the tombstone keeps, for filters"),
        ],
        examples: [
            Guide.Example(
                "settle delete groceries milk --rev 2-c7cfa8a3cd9f5a1b7a5e4b6a8a6d0a11", "deletes this revision"),
            Guide.Example("settle delete groceries milk --force --keep owner", "deletes the winner, keeps its owner"),
        ],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let id = try invocation.documentID()
        try arguments.refuse("--force", with: "--rev")
        let revision = try invocation.revision()
        let kept = Set(arguments.texts("--keep"))
        return try invocation.withDatabase { database in
            if id.isLocal { return try deleteLocal(id, in: database, invocation) }
            let document: Document
            if let revision {
                document = try invocation.document(id, at: revision, in: database)
            } else {
                guard let current = try database.document(id) else {
                    throw CommandError.notFound("there is no document \"\(id)\" to delete")
                }
                guard arguments.flag("--force"), let winner = current.revision else {
                    let message = "which revision of \"\(id)\" is to be deleted was not said"
                    throw current.revision.map { Invocation.conflict(message, $0) } ?? CommandError.invalid(message)
                }
                document = try invocation.document(id, at: winner, in: database)
            }
            let tombstone = try database.delete(document, keeping: kept, onConflict: .fail)
            try invocation.print(id, tombstone?.revision?.description ?? "")
            return .success
        }
    }

    private static func deleteLocal(
        _ id: DocumentID, in database: Database, _ invocation: Invocation
    ) throws -> ExitStatus {
        guard try database.deleteLocalDocument(id) else {
            throw CommandError.notFound("there is no document \"\(id)\" to delete")
        }
        try invocation.print(id, "0-0")
        return .success
    }
}
