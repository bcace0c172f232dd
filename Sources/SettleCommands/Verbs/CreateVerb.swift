internal import Settle

/// `settle create`: makes a database.
enum CreateVerb: Verb {
    static let guide = Guide(
        "create", "make a new, empty database",
        discussion: "The folder is made exactly as it is named. End it in `.settle` to tell it from others.",
        operands: [Operand("DB", "the folder to make")],
        examples: [
            Guide.Example("settle create groceries.settle", "makes the folder groceries.settle")
        ],
        json: #"{"ok":true,"path":"/…/groceries.settle"}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let given = try invocation.arguments.operand("DB")
        if given.isEmpty { throw CommandError.usage("DB is empty", verb: "create") }
        let database = try Database.create(given)
        let path = database.path ?? given
        database.close()
        let console = invocation.console
        if console.isJSON {
            try console.print(JSON.object(["ok": true, "path": .string(path)]).description)
        } else {
            try console.note("Created \(given)")
        }
        return .success
    }
}
