internal import Settle

/// What one database brought to another.
struct TransferCounts: Sendable, Equatable {
    /// The documents that were compared.
    var documents = 0
    /// The revisions that were stored.
    var revisions = 0
    /// The contents of attachments that were copied.
    var attachments = 0
    /// The bytes of bodies and of those contents.
    var bytes: Int64 = 0
    /// The revisions that were refused, or could not be read, each with a reason.
    var refused = 0

    /// What a person wants to know.
    var summary: String {
        if revisions + refused == 0 { return "nothing new" }
        let contents = attachments > 0 ? " and \(Quantity.of(attachments, "attachment"))" : ""
        let failures = refused > 0 ? ", \(Quantity.grouped(refused)) refused" : ""
        return "\(Quantity.of(revisions, "revision"))\(contents), \(Quantity.bytes(bytes))\(failures)"
    }

    /// The same for programs.
    var json: JSON {
        [
            "documents": .number(JSONNumber(documents)), "revisions": .number(JSONNumber(revisions)),
            "attachments": .number(JSONNumber(attachments)), "bytes": .number(JSONNumber(bytes)),
            "refused": .number(JSONNumber(refused)),
        ]
    }
}
