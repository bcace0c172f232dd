internal import Settle

extension Document {
    /// The members, and the attachments as one more member: each described by a text.
    var comparable: JSONObject { Self.comparable(json, attachments) }

    /// Members and attachments in the form of ``comparable``.
    static func comparable(_ body: JSONValue, _ attachments: [DocumentAttachment]) -> JSONObject {
        var members = body.object ?? JSONObject()
        if !attachments.isEmpty {
            members["_attachments"] = .object(JSONObject(attachments.map { ($0.name, .string(text(of: $0))) }))
        }
        return members
    }

    private static func text(of attachment: DocumentAttachment) -> String {
        "\(attachment.contentType), \(Quantity.bytes(attachment.length)), \(attachment.digest.description.prefix(12))…"
    }
}

extension RevisionID {
    /// The generation and the first digits, for people: `3-825cb35d…`.
    var abbreviated: String { Self.abbreviated(description) }

    private static func abbreviated(_ text: String) -> String {
        let digits = text.drop { $0 != "-" }.dropFirst()
        return digits.count > 10 ? "\(text.prefix { $0 != "-" })-\(digits.prefix(8))…" : text
    }
}

extension Conflict {
    /// The text with the leaves' and the base's revisions abbreviated.
    func abbreviating(_ text: String) -> String {
        tree.revisions.reduce(text) { text, revision in
            text.replacing(revision.description, with: revision.abbreviated)
        }
    }
}
