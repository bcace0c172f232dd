internal import Settle

/// `settle info`: counts and sizes.
enum InfoVerb: Verb {
    static let guide = Guide(
        "info", "show counts and sizes of a database",
        operands: [.database],
        examples: [
            Guide.Example("settle info groceries", "shows how many documents there are, and how large they are"),
            Guide.Example("settle info groceries --json", "the same for a script"),
        ],
        json: """
            {"path":…,"doc_count":N,"doc_del_count":N,"conflicts":N,"attachments":N,"update_seq":N,"revs_limit":N,\
            "sizes":{"file":N,"attachments":N}}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.withDatabase { database in
            let info = try database.info()
            let path = database.path ?? "in memory"
            try invocation.console.print(text(info, path), json: json(info, path))
            return .success
        }
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
