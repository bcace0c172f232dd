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
        let kept = KeptMembers(arguments.texts("--keep"))
        let written = try invocation.retrying(arguments.flag("--force")) {
            try invocation.withDocument(id, at: revision.map { [$0] } ?? []) { place in
                if id.isLocal { return try deleteLocal(id, in: place) }
                let document = try document(id, revision, in: place.database, arguments)
                let tombstone = try place.database.delete(document, keeping: kept, onConflict: .fail)
                return try place.commit(tombstone)?.description ?? ""
            }
        }
        try invocation.print(id, written)
        return .success
    }

    private static func document(
        _ id: DocumentID, _ revision: RevisionID?, in database: Database, _ arguments: Arguments
    ) throws -> Document {
        if let revision { return try Invocation.document(id, at: revision, in: database) }
        guard let current = try database.document(id) else {
            throw CommandError.notFound("there is no document \"\(id)\" to delete")
        }
        guard arguments.flag("--force"), let winner = current.revision else {
            let message = "refusing to delete \"\(id)\" without --rev"
            throw current.revision.map { Invocation.conflict(message, $0) } ?? CommandError.invalid(message)
        }
        return try Invocation.document(id, at: winner, in: database)
    }

    private static func deleteLocal(_ id: DocumentID, in place: DocumentPlace) throws -> String {
        guard try place.deleteLocalDocument(id) else {
            throw CommandError.notFound("there is no document \"\(id)\" to delete")
        }
        return "0-0"
    }
}
