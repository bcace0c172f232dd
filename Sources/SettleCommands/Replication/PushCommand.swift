internal import Settle

/// `settle push`: replicates a database to another one.
enum PushCommand: Command {
    static let spec = CommandSpec(
        "push", "replicate a database to another one",
        discussion: """
            All leaves that TARGET lacks are sent, with their histories and attachments. Revisions that TARGET refuses are \
            listed and make the exit code 1; the others are stored. With --linear a revision that would become a branch \
            there is refused: pull, settle, and push again. An interrupted push continues where it stopped.
            """,
        operands: [.database, Operand("TARGET", takesURL: true, "the database to write to: a folder or a URL")],
        options: ReplicationOptions.options,
        examples: [
            CommandSpec.Example("settle push groceries http://admin@127.0.0.1:5984/groceries --create", "to a server"),
            CommandSpec.Example(
                "settle push groceries https://couch.example/mine --selector '{\"owner\":\"anna\"}'", "some of them"),
        ],
        json: ReplicationCommand.json)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try ReplicationCommand(invocation: invocation, other: "TARGET", sends: true, receives: false, verb: spec.name)
            .run()
    }
}
