internal import Settle

/// `settle purge`: removes a document without a tombstone.
enum PurgeCommand: Command {
    static let spec = CommandSpec(
        "purge", "remove a document from this database without a trace",
        discussion: """
            A purge does not replicate: replication from another copy may restore the document. To delete a document \
            everywhere, see `settle delete`. With --rev only these leaves are removed, with the ancestors of no other \
            leaf. If some of them are not leaves of the document, the others are removed all the same; the exit code \
            is then 1, or 3 if nothing was removed.
            """,
        operands: [.database, .document],
        options: [Option("--rev", value: "REV", isRepeatable: true, "only this leaf")],
        examples: [
            CommandSpec.Example("settle purge groceries milk", "removes the document with all its revisions"),
            CommandSpec.Example(
                "settle purge groceries milk --rev 2-9a1f6c0e4d3b2a18f7e6d5c4b3a29180", "removes one leaf of a conflict"
            ),
        ],
        json: """
            {"ok":bool,"id":…,"purged":[revision …],"missing":[revision …]}, and on standard error, for each missing \
            one, {"id":…,"rev":…,"error":code,"message":text}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        let revisions = try invocation.arguments.texts("--rev").map { try RevisionID(validating: $0) }
        let purged = try invocation.withClient { try $0.purge(id, revisions) }
        guard !purged.isEmpty else {
            let what = revisions.isEmpty ? "there is no document" : "none of these revisions is a leaf of"
            throw CommandError.notFound("\(what) \"\(id)\"")
        }
        let missing = revisions.filter { !purged.contains($0) }
        let names = purged.map(\.description)
        try invocation.console.print(
            names.map { "purged \($0)" }.joined(separator: "\n"),
            json: [
                "ok": .bool(missing.isEmpty), "id": .string(id.string), "purged": .array(names.map(JSONValue.string)),
                "missing": .array(missing.map { .string($0.description) }),
            ])
        for revision in missing { complain(revision, id, invocation.console) }
        return missing.isEmpty ? .success : .failure
    }

    private static func complain(_ revision: RevisionID, _ id: DocumentID, _ console: Console) {
        let message = "\(revision) is not a leaf of \"\(id)\", so it was not purged; `settle tree` shows the leaves"
        console.complain(
            "settle: \(message)",
            json: [
                "id": .string(id.string), "rev": .string(revision.description), "error": "not_found",
                "message": .string(message),
            ])
    }
}
