internal import Settle

/// `settle compact`: removes old revisions and unused space.
enum CompactCommand: Command {
    static let spec = CommandSpec(
        "compact", "remove old bodies and unused attachments, and free their space",
        discussion: """
            Leaves, revision ids and the bases of conflicts are kept. It may be interrupted; a server then continues \
            on its own.
            """,
        operands: [.database],
        options: [Option("--no-wait", "of a URL: only start it, the server continues")],
        examples: [
            CommandSpec.Example("settle compact groceries", "makes the database as small as possible"),
            CommandSpec.Example(
                "settle compact https://anna@couch.example/groceries --no-wait", "starts it at a server, and returns"),
        ],
        json: #"{"ok":true,"bodies":N,"attachments":N,"bytes":N}; at CouchDB only bytes; of --no-wait {"ok":true}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let (console, isWaiting) = (invocation.console, !invocation.arguments.flag("--no-wait"))
        return try invocation.withClient(onlyURLs: ["--no-wait"]) { client in
            guard isWaiting else {
                try client.startCompaction()
                try console.print("\(client.name) is being compacted", json: ["ok": true])
                return .success
            }
            let bar = ProgressBar(console)
            let done = try client.compact(bar)
            var json: JSONValue = ["ok": true]
            var text = "Compacted"
            for name in ["bodies", "attachments", "bytes"] { json[name] = done[name] }
            if let contents = done["bodies"]?.int {
                let bodies = contents == 1 ? "1 old body" : "\(Quantity.grouped(contents)) old bodies"
                text = "Removed \(bodies) and \(Quantity.of(done["attachments"]?.int ?? 0, "attachment"))"
            }
            if console.isJSON {
                try console.print(json.description)
            } else {
                let bytes = Int64(done["bytes"]?.int ?? 0)
                let size = bytes >= 0 ? "\(Quantity.bytes(bytes)) smaller" : "\(Quantity.bytes(-bytes)) larger"
                try console.printNote("\(text) in \(Quantity.duration(bar.elapsed)); the database is \(size)")
            }
            return .success
        }
    }
}
