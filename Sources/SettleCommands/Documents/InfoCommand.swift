internal import Settle

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
            attachments are not told
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        if let remote = try invocation.remote() {
            let info = try remote.info()
            let limit = try? remote.json("GET", "_revs_limit")
            try invocation.console.print(text(info, limit, remote.url), json: json(info, limit, remote.url))
            return .success
        }
        return try invocation.withDatabase { database in
            let info = try database.info()
            let path = database.path ?? "in memory"
            try invocation.console.print(text(info, path), json: json(info, path))
            return .success
        }
    }

    /// A server's information, which counts neither conflicts nor attachments.
    private static func text(_ info: JSON, _ limit: JSON?, _ url: HTTPURL) -> String {
        let deletedCount = info["doc_del_count"]?.int ?? 0
        let deleted = deletedCount > 0 ? ", \(Quantity.grouped(deletedCount)) deleted" : ""
        var rows = [
            ("URL", url.description), ("Documents", Quantity.grouped(info["doc_count"]?.int ?? 0) + deleted),
            ("Last change", PeerSequence(info["update_seq"] ?? .null).shortened),
        ]
        if let size = info["sizes"]?["file"]?.int { rows.append(("Size", Quantity.bytes(Int64(size)))) }
        if let limit = limit?.int { rows.append(("Revisions kept", "\(Quantity.grouped(limit)) a branch")) }
        return Columns.aligned(rows).joined(separator: "\n")
    }

    private static func json(_ info: JSON, _ limit: JSON?, _ url: HTTPURL) -> JSON {
        var line: JSON = ["path": .string(url.description)]
        for name in ["doc_count", "doc_del_count", "update_seq"] { line[name] = info[name] }
        line["revs_limit"] = limit
        line["sizes"] = info["sizes"]
        return line
    }

    private static func text(_ info: DatabaseInfo, _ path: String) -> String {
        let deleted = info.documents.deleted > 0 ? ", \(Quantity.grouped(info.documents.deleted)) deleted" : ""
        let files = info.attachmentFilesSize > 0 ? ", \(Quantity.bytes(info.attachmentFilesSize)) in files" : ""
        return Columns.aligned([
            ("Path", path),
            ("Documents", Quantity.grouped(info.documents.live) + deleted),
            ("Conflicts", info.conflicts == 0 ? "none" : Quantity.of(info.conflicts, "document")),
            ("Attachments", info.blobs == 0 ? "none" : Quantity.grouped(info.blobs) + files),
            ("Last change", Quantity.grouped(info.lastSequence.number)),
            ("Size", Quantity.bytes(info.fileSize + info.attachmentFilesSize)),
            ("Revisions kept", "\(Quantity.grouped(info.revisionLimit)) a branch"),
        ]).joined(separator: "\n")
    }

    private static func json(_ info: DatabaseInfo, _ path: String) -> JSON {
        [
            "path": .string(path), "doc_count": .number(JSONNumber(info.documents.live)),
            "doc_del_count": .number(JSONNumber(info.documents.deleted)),
            "conflicts": .number(JSONNumber(info.conflicts)), "attachments": .number(JSONNumber(info.blobs)),
            "update_seq": .number(JSONNumber(info.lastSequence.number)),
            "revs_limit": .number(JSONNumber(info.revisionLimit)),
            "sizes": [
                "file": .number(JSONNumber(info.fileSize)),
                "attachments": .number(JSONNumber(info.attachmentFilesSize)),
            ],
        ]
    }
}
