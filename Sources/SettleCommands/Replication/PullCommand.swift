internal import Settle

/// `settle pull`: replicates another database to one.
enum PullCommand: Command {
    static let spec = CommandSpec(
        "pull", "replicate another database to this one",
        discussion: """
            All leaves that DB lacks are fetched, with their histories and attachments. Documents edited on both sides are \
            in conflict afterwards, unless a policy settles them. Documents that a validation refuses are listed; the others \
            are stored. An interrupted pull continues where it stopped. A missing folder is created.
            """,
        operands: [.database, Operand("SOURCE", takesURL: true, "the database to read: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle pull groceries https://anna@couch.example/groceries", "fetches what is new"),
            CommandSpec.Example(
                "settle pull groceries http://127.0.0.1:5984/groceries --policy threeWayMerge -c --events",
                "fetches and settles until Ctrl-C, with a line for each document"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "SOURCE", sends: false, receives: true, verb: spec.name)
            .run()
    }
}
