internal import Settle

/// What an export has written.
struct ExportCounts: Sendable, Equatable {
    var documents = 0
    var revisions = 0
    var attachments = 0
    var locals = 0
    /// How many revisions were left out because they are damaged.
    var damaged = 0

    /// What a person wants to know.
    func summary(_ duration: Duration, bytes: Int64) -> String {
        var text = "Exported \(Quantity.of(documents, "document"))"
        if revisions > documents { text += " with \(Quantity.of(revisions, "leaf revision"))" }
        if attachments > 0 { text += ", \(Quantity.of(attachments, "attachment"))" }
        if locals > 0 { text += ", \(Quantity.of(locals, "local document"))" }
        return text + " in \(Quantity.duration(duration)) (\(Quantity.bytes(bytes)))"
    }

    /// The same for programs.
    func json(_ duration: Duration, bytes: Int64) -> JSON {
        [
            "documents": .number(JSONNumber(documents)), "revisions": .number(JSONNumber(revisions)),
            "attachments": .number(JSONNumber(attachments)), "local": .number(JSONNumber(locals)),
            "bytes": .number(JSONNumber(bytes)),
            "seconds": JSONNumber(Quantity.seconds(duration)).map(JSON.number) ?? .null,
        ]
    }
}
