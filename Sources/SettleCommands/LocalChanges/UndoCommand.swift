internal import Settle

/// `settle undo`: undoes local operations.
enum UndoCommand: Command {
    static let spec = CommandSpec(
        "undo", "undo local operations, the newest first",
        discussion: """
            Each document gets the content it had before the operation, as a new revision; one that was created is \
            deleted. Later changes by others are kept. Only operations that no peer has acknowledged can be undone, \
            see `settle log`; no peer is contacted. Either all of the given operations are undone, or none. At a Settle \
            server administrators of the database undo its operations, unless it has validation functions.
            """,
        operands: [.database, Operand("ID", isOptional: true, "undo all operations on this document")],
        options: [
            Option("--number", short: "-n", value: "N", "undo N operations (default 1)"),
            Option("--all", "undo everything that is not synchronized"),
        ],
        examples: [
            CommandSpec.Example("settle undo groceries", "undoes the newest operation"),
            CommandSpec.Example("settle undo groceries -n 3", "undoes the newest three"),
            CommandSpec.Example("settle undo groceries milk", "all operations on one document"),
            CommandSpec.Example("settle undo groceries --all", "everything since the last synchronization"),
        ],
        json: #"{"ok":true,"undone":[an operation as `settle log` has it …]}, the newest first"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        try arguments.refuse("--number", with: "--all")
        let id = try arguments.optionalOperand("ID").map { try DocumentID(validating: $0) }
        let isAll = arguments.flag("--all")
        let count = try arguments.count("--number", atLeast: 1)
        if id != nil, isAll || count != nil {
            throw CommandError.usage("ID excludes --all and --number", verb: spec.name)
        }
        let console = invocation.console
        return try invocation.withClient { client in
            let undone = try client.undo(id, count: isAll ? .max : count ?? 1)
            if console.isJSON {
                let line: JSONValue = ["ok": true, "undone": .array(undone)]
                try console.print(line.description)
                return .success
            }
            for entry in undone {
                try console.print("undone \(entry["operation"]?.string ?? "") \(entry["id"]?.string ?? "")")
            }
            if undone.isEmpty { try console.printNote("There is nothing to undo") }
            return .success
        }
    }
}
