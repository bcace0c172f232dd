internal import Settle

/// `settle create`: creates a database.
enum CreateCommand: Command {
    static let spec = CommandSpec(
        "create", "create a new, empty database",
        discussion: "The folder is created with exactly this name. End it in `.settle` to distinguish it from others.",
        operands: [Operand("DB", takesURL: true, "the folder to create, or the URL of the database")],
        options: [Option("--journal", "keep local operations until they are synchronized; see `settle log`")],
        examples: [
            CommandSpec.Example("settle create groceries.settle", "creates the folder groceries.settle"),
            CommandSpec.Example("settle create notes.settle --journal", "creates one whose changes can be undone"),
            CommandSpec.Example("settle create https://anna@couch.example/groceries", "creates a database at a server"),
        ],
        json: #"{"ok":true,"path":"/…/groceries.settle"}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let given = try invocation.arguments.operand("DB")
        if given.isEmpty { throw CommandError.usage("DB is empty", verb: "create") }
        let (path, name) = try create(given, invocation)
        let console = invocation.console
        if console.isJSON {
            try console.print(JSONValue.object(["ok": true, "path": .string(path)]).description)
        } else {
            try console.printNote("Created \(name)")
        }
        return .success
    }

    private static func create(_ given: String, _ invocation: Invocation) throws -> (path: String, name: String) {
        let hasJournal = invocation.arguments.flag("--journal")
        if let remote = try invocation.remote() {
            if hasJournal, try !remote.isAtSettle() {
                throw CommandError.usage("--journal is for folders and servers of Settle", verb: spec.name)
            }
            try remote.json("PUT")
            if hasJournal { try remote.json("PUT", "_journal", body: true) }
            return (remote.url.description, remote.url.description)
        }
        var options = DatabaseOptions()
        if hasJournal { options.journal = true }
        let database = try Database.create(given, options: options)
        defer { database.close() }
        return (database.path ?? given, given)
    }
}
