internal import Settle

/// `settle pull`: brings the documents of another database to one.
enum PullCommand: Command {
    static let spec = CommandSpec(
        "pull", "bring the documents of another database to this one",
        discussion: """
            All leaves that DB lacks are fetched, with their histories and attachments. What was edited on both sides is in \
            conflict then, unless a policy settles it. A document that a validation refuses is listed and does not keep the \
            others. It may be interrupted, and goes on where it was. A folder that is not there is made into a database.
            """,
        operands: [.database, Operand("SOURCE", takesURL: true, "the database that has them: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle pull groceries https://anna@couch.example/groceries", "fetches what is new"),
            CommandSpec.Example(
                "settle pull groceries http://127.0.0.1:5984/groceries --policy threeWayMerge -c --events",
                "fetches and settles until Ctrl-C, and tells of each document"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "SOURCE", sends: false, receives: true, verb: spec.name)
            .run()
    }
}
