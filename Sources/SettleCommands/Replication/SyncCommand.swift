internal import Settle

/// `settle sync`: exchanges revisions between two databases.
enum SyncCommand: Command {
    static let spec = CommandSpec(
        "sync", "exchange revisions between two databases, once or continuously",
        discussion: """
            Each database gets the leaves it lacks from the other, with their histories and attachments, and the bases that \
            merges of its conflicts need. Nothing is overwritten: documents edited on both sides are in conflict afterwards, \
            on both sides, see `settle conflicts`. With a policy, conflicts are settled in DB as they arrive, and the \
            results are sent. Each side is a folder, or a URL of Settle, CouchDB, PouchDB Server or, by ws:// and wss://, Sync Gateway. Local documents are not \
            replicated. An interrupted sync continues where it stopped. A missing folder OTHER is created, and with \
            --create a missing database on either side.
            """,
        operands: [.database, Operand("OTHER", takesURL: true, "the other database: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle sync groceries /media/stick/groceries", "brings both up to date"),
            CommandSpec.Example(
                "settle sync groceries https://anna@couch.example/groceries --continuous --policy threeWayMerge",
                "keeps both equal until Ctrl-C, and settles what was edited on both sides"),
            CommandSpec.Example(
                "settle sync groceries wss://anna@gateway.example:4984/shop --collection inventory.food",
                "with a collection of a Sync Gateway"),
            CommandSpec.Example("settle sync groceries backup --quiet", "prints only failures"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "OTHER", sends: true, receives: true, verb: spec.name)
            .run()
    }
}
