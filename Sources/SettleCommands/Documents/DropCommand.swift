internal import Foundation
internal import Settle
import SettleDatabase

/// `settle drop`: deletes a database.
enum DropCommand: Command {
    static let spec = CommandSpec(
        "drop", "delete a database, with all its documents",
        discussion: """
            On a terminal it shows how many documents are lost, and asks; --yes deletes without a question, as scripts \
            must. Nothing can bring the documents back but a backup or another copy. Deleting does not replicate: other \
            copies keep their documents. `settle delete` deletes a single document, and `settle purge` forgets one.
            """,
        operands: [.database],
        options: [Option("--yes", short: "-y", "delete without asking")],
        examples: [
            CommandSpec.Example("settle drop groceries", "asks, and removes the folder"),
            CommandSpec.Example(
                "settle drop https://admin@couch.example/old-groceries --yes", "deletes it at a server"),
        ],
        json: #"{"ok":true,"path":…,"doc_count":N}: the documents that are gone with it"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        guard invocation.session == nil else {
            throw CommandError.usage("a shell can't delete its own database; leave it with exit first", verb: spec.name)
        }
        try refuseLink(invocation)
        let (place, count) = try invocation.withClient(warns: false) { client -> (String, Int) in
            let count = try client.info()["doc_count"]?.int ?? 0
            try confirm(client.name, count, invocation)
            if Invocation.isURL(client.place) { try client.json("DELETE") }
            return (client.place, count)
        }
        if !Invocation.isURL(place) { try Database.remove(place) }
        try invocation.console.print(
            "Deleted \(place) with \(Quantity.of(count, "document"))",
            json: ["ok": true, "path": .string(place), "doc_count": .number(JSONNumber(count))])
        return .success
    }

    /// Refuses a link to a folder, of which only the link would be removed.
    private static func refuseLink(_ invocation: Invocation) throws {
        guard !Invocation.isURL(try invocation.arguments.operand("DB")) else { return }
        let path = try invocation.path()
        if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
            throw CommandError.usage("\(path) is a link to \(target); give the folder itself", verb: spec.name)
        }
    }

    private static func confirm(_ name: String, _ count: Int, _ invocation: Invocation) throws {
        if invocation.arguments.flag("--yes") { return }
        let (input, console) = (ByteInput(), invocation.console)
        let question = "Delete \(name) with \(Quantity.of(count, "document"))? [y/N] "
        guard input.isTerminal, console.errorTerminal.isTerminal, !console.isJSON else {
            throw CommandError.usage(
                "refusing to delete \(name) with \(Quantity.of(count, "document")) unasked; give --yes", verb: spec.name
            )
        }
        guard console.asks(question, unlessAnswered: false) else {
            throw CommandError("aborted", "nothing was deleted", status: .failure)
        }
    }
}
