internal import Settle

/// `settle sync`: brings two databases to the same revisions.
enum SyncCommand: Command {
    static let spec = CommandSpec(
        "sync", "exchange revisions between two databases, once or for ever",
        discussion: """
            Each gets the leaves it lacks from the other, with their histories and attachments, and the bases that merges \
            of its conflicts need. Nothing is overwritten: what was edited on both sides is in conflict then, on both sides \
            alike, see `settle conflicts`; with a policy, conflicts are settled in DB as they arrive, and the answers are \
            sent. Each side is a folder, or a URL of Settle, CouchDB or PouchDB Server. Local documents stay. It may be \
            interrupted, and goes on where it was. A second folder that is not there is made into a database.
            """,
        operands: [.database, Operand("OTHER", takesURL: true, "the other database: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle sync groceries /media/stick/groceries", "brings both up to date"),
            CommandSpec.Example(
                "settle sync groceries https://anna@couch.example/groceries --continuous --policy threeWayMerge",
                "keeps both equal until Ctrl-C, and settles what was edited on both sides"),
            CommandSpec.Example("settle sync groceries backup --quiet", "without a word unless something fails"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "OTHER", sends: true, receives: true, verb: spec.name)
            .run()
    }
}
