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
        examples: [CommandSpec.Example("settle compact groceries", "makes the database as small as possible")],
        json:
            #"{"ok":true,"bodies":N,"attachments":N,"bytes":N}; of a URL {"ok":true}, with "bytes":N unless --no-wait"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        if let remote = try invocation.remote() {
            return try RemoteCompaction(remote: remote, console: invocation.console).run(
                waits: !invocation.arguments.flag("--no-wait"))
        }
        if invocation.arguments.flag("--no-wait") {
            throw CommandError.usage("--no-wait is for URLs", verb: spec.name)
        }
        return try invocation.withDatabase { database in
            let console = invocation.console
            let bar = ProgressBar(console)
            let result = try bar.watch("Compacting") { try database.compact(progress: $0) }
            if console.isJSON {
                let json: JSON = [
                    "ok": true, "bodies": .number(JSONNumber(result.contents)),
                    "attachments": .number(JSONNumber(result.blobs)), "bytes": .number(JSONNumber(result.bytes)),
                ]
                try console.print(json.description)
            } else {
                let removed = [
                    result.contents == 1 ? "1 old body" : "\(Quantity.grouped(result.contents)) old bodies",
                    Quantity.of(result.blobs, "attachment"),
                ].joined(separator: " and ")
                let size =
                    result.bytes >= 0
                    ? "\(Quantity.bytes(result.bytes)) smaller" : "\(Quantity.bytes(-result.bytes)) larger"
                try console.note(
                    "Removed \(removed) in \(Quantity.duration(bar.elapsed)); the database is \(size)")
            }
            return .success
        }
    }
}
