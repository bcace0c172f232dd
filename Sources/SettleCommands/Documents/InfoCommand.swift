internal import Settle
internal import SettleHTTP
import SettleReplication

/// `settle info`: counts and sizes.
enum InfoCommand: Command {
    static let spec = CommandSpec(
        "info", "show counts and sizes of a database",
        operands: [.database],
        examples: [
            CommandSpec.Example("settle info groceries", "shows how many documents there are, and how large they are"),
            CommandSpec.Example("settle info groceries --json", "the same for a script"),
        ],
        json: """
            {"path":…,"doc_count":N,"doc_del_count":N,"conflicts":N,"attachments":N,"update_seq":N,"revs_limit":N,\
            "sizes":{"file":N,"attachments":N}}; of a URL that is the path, and update_seq is a text. At CouchDB conflicts and \
            attachments are missing, and sizes are its own
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.withClient { client in
            let shown = Shown(
                info: try client.info(), limit: try? client.json("GET", "_revs_limit"), details: try client.details(),
                client: client)
            try invocation.console.print(shown.text, json: shown.json)
        }
        return .success
    }
}

/// The known data of a database.
private struct Shown {
    let info: JSONValue
    let limit: JSONValue?
    let details: JSONValue?
    let client: Client

    var text: String {
        let deletedCount = info["doc_del_count"]?.int ?? 0
        let deleted = deletedCount > 0 ? ", \(Quantity.grouped(deletedCount)) deleted" : ""
        var rows = [
            (Invocation.isURL(client.place) ? "URL" : "Path", client.place),
            ("Documents", Quantity.grouped(info["doc_count"]?.int ?? 0) + deleted),
        ]
        let attachmentFiles = Int64(details?["sizes"]?["attachments"]?.int ?? 0)
        if let conflicts = details?["conflicts"]?["branches"]?.int, let attachments = details?["attachments"]?.int {
            let files = attachmentFiles > 0 ? ", \(Quantity.bytes(attachmentFiles)) in files" : ""
            rows += [
                ("Conflicts", conflicts == 0 ? "none" : Quantity.of(conflicts, "document")),
                ("Attachments", attachments == 0 ? "none" : Quantity.grouped(attachments) + files),
            ]
        }
        let last = client.position(info["update_seq"] ?? .null)
        rows.append(("Last change", last.int.map { Quantity.grouped($0) } ?? PeerSequence(last).shortened))
        if let size = (details ?? info)["sizes"]?["file"]?.int {
            rows.append(("Size", Quantity.bytes(Int64(size) + attachmentFiles)))
        }
        if let limit = limit?.int { rows.append(("Revisions kept", "\(Quantity.grouped(limit)) a branch")) }
        return Columns.aligned(rows).joined(separator: "\n")
    }

    var json: JSONValue {
        var line: JSONValue = ["path": .string(client.place)]
        for name in ["doc_count", "doc_del_count"] { line[name] = info[name] }
        line["conflicts"] = details?["conflicts"]?["branches"]
        line["attachments"] = details?["attachments"]
        line["update_seq"] = client.position(info["update_seq"] ?? .null)
        line["revs_limit"] = limit
        line["sizes"] = details?["sizes"] ?? info["sizes"]
        return line
    }
}
