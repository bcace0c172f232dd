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
        json:
            #"{"ok":true,"bodies":N,"attachments":N,"bytes":N}; of a URL {"ok":true}, with "bytes":N unless --no-wait"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let (console, isWaiting) = (invocation.console, !invocation.arguments.flag("--no-wait"))
        if !isWaiting, try !invocation.isRemote() {
            throw CommandError.usage("--no-wait is for URLs", verb: spec.name)
        }
        return try invocation.withClient { client in
            guard isWaiting else {
                try client.startCompaction()
                try console.print("\(client.name) is being compacted", json: ["ok": true])
                return .success
            }
            let bar = ProgressBar(console)
            let done = try client.compact(bar)
            var json: JSONValue = ["ok": true]
            var text = "Compacted"
            if let removed = done.removed {
                json["bodies"] = .number(JSONNumber(removed.contents))
                json["attachments"] = .number(JSONNumber(removed.blobs))
                let bodies = removed.contents == 1 ? "1 old body" : "\(Quantity.grouped(removed.contents)) old bodies"
                text = "Removed \(bodies) and \(Quantity.of(removed.blobs, "attachment"))"
            }
            json["bytes"] = .number(JSONNumber(done.bytes))
            if console.isJSON {
                try console.print(json.description)
            } else {
                let size =
                    done.bytes >= 0
                    ? "\(Quantity.bytes(done.bytes)) smaller" : "\(Quantity.bytes(-done.bytes)) larger"
                try console.printNote("\(text) in \(Quantity.duration(bar.elapsed)); the database is \(size)")
            }
            return .success
        }
    }
}
