internal import Settle

/// `settle edit`: edits a document in the user's editor.
enum EditCommand: Command {
    static let spec = CommandSpec(
        "edit", "edit a document in your editor, and write its new revision",
        discussion: """
            The editor is $VISUAL, $EDITOR or vi. It opens the document as JSON, without _id and _rev; a document that does \
            not exist yet begins as {}. Save the text and quit to store it. An unchanged text stores nothing. The database \
            is closed meanwhile, so that other processes can use it.
            If somebody else stored a revision meanwhile, both edits are merged: each member that only one of them changed has \
            that change. If both changed a member, the editor opens again with your value, and below it the versions of both \
            sides; save to store that, or empty the text to give up.
            A text that can't be stored is not lost: the message names the file that keeps it. A document in conflict is \
            edited at its winner, or at --rev; `settle resolve --edit` settles the conflict. Local documents are saved with \
            `settle put`.
            """,
        operands: [.database, .document],
        options: [Option("--rev", value: "REV", "the revision to edit (default: the current one)")],
        examples: [
            CommandSpec.Example("settle edit groceries milk", "opens the document in vi, or your editor"),
            CommandSpec.Example(
                "EDITOR='code --wait' settle edit https://anna@couch.example/groceries milk",
                "edits it at a server, in an editor with a window"),
            CommandSpec.Example("settle edit groceries _design/shop", "edits a design document"),
        ],
        json: """
            {"ok":true,"id":…,"rev":…,"changed":bool,"merged":[revision …]}: the revisions that were stored meanwhile and \
            merged; without "rev" if a new document was not stored
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        guard !id.isLocal else {
            throw CommandError.usage("local documents are saved with `settle put`", verb: spec.name)
        }
        let outcome = try DocumentEditing(id: id, invocation: invocation).run()
        var json: JSONValue = ["ok": true, "id": .string(id.string)]
        json["rev"] = outcome.revision.map { .string($0.description) }
        json["changed"] = .bool(outcome.isChanged)
        json["merged"] = .array(outcome.merged.map { .string($0.description) })
        let console = invocation.console
        if outcome.isChanged || console.isJSON {
            try console.print(outcome.revision?.description ?? "", json: json)
        } else {
            try console.printNote("Nothing was changed")
        }
        return .success
    }
}
