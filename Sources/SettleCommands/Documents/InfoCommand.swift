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
            "sizes":{"file":N,"attachments":N}}; of a URL that is the path, update_seq may be a text, and conflicts and \
            attachments are missing
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.withClient { client in
            let shown = Shown(
                info: try client.info(), limit: try? client.json("GET", "_revs_limit"), url: client.url,
                folder: try client.database.map { ($0.path ?? "in memory", try $0.info()) })
            try invocation.console.print(shown.text, json: shown.json)
        }
        return .success
    }
}

/// What is known of a database. The API has no members for conflicts and attachments; a folder tells them itself.
private struct Shown {
    let info: JSONValue
    let limit: JSONValue?
    let url: HTTPURL
    let folder: (path: String, info: DatabaseInfo)?

    var text: String {
        let deletedCount = info["doc_del_count"]?.int ?? 0
        let deleted = deletedCount > 0 ? ", \(Quantity.grouped(deletedCount)) deleted" : ""
        var rows = [
            folder.map { ("Path", $0.path) } ?? ("URL", url.description),
            ("Documents", Quantity.grouped(info["doc_count"]?.int ?? 0) + deleted),
        ]
        if let more = folder?.info {
            let files = more.attachmentFilesSize > 0 ? ", \(Quantity.bytes(more.attachmentFilesSize)) in files" : ""
            rows += [
                ("Conflicts", more.conflicts == 0 ? "none" : Quantity.of(more.conflicts, "document")),
                ("Attachments", more.blobs == 0 ? "none" : Quantity.grouped(more.blobs) + files),
            ]
        }
        let last = PeerSequence(info["update_seq"] ?? .null)
        rows.append(
            ("Last change", folder == nil ? last.shortened : Quantity.grouped(last.number.map(Int.init) ?? 0)))
        let size = folder.map { $0.info.fileSize + $0.info.attachmentFilesSize }
        if let size = size ?? info["sizes"]?["file"]?.int.map(Int64.init) {
            rows.append(("Size", Quantity.bytes(size)))
        }
        if let limit = limit?.int { rows.append(("Revisions kept", "\(Quantity.grouped(limit)) a branch")) }
        return Columns.aligned(rows).joined(separator: "\n")
    }

    var json: JSONValue {
        var line: JSONValue = ["path": .string(folder?.path ?? url.description)]
        for name in ["doc_count", "doc_del_count"] { line[name] = info[name] }
        if let more = folder?.info {
            line["conflicts"] = .number(JSONNumber(more.conflicts))
            line["attachments"] = .number(JSONNumber(more.blobs))
            line["update_seq"] = .number(JSONNumber(more.lastSequence.number))
        } else {
            line["update_seq"] = info["update_seq"]
        }
        line["revs_limit"] = limit
        line["sizes"] = info["sizes"]
        if let more = folder?.info {
            line["sizes"] = [
                "file": .number(JSONNumber(more.fileSize)),
                "attachments": .number(JSONNumber(more.attachmentFilesSize)),
            ]
        }
        return line
    }
}
