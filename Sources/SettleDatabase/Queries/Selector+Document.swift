internal import SettleCore

extension Selector {
    /// Whether a document matches, with its `_id`, its `_rev`, `_deleted` for a tombstone, and `_attachments` as stubs.
    ///
    /// - Complexity: O(*n*) in bytes of the document.
    public func matches(_ document: Document) -> Bool {
        var members: [(String, JSON)] = [("_id", .string(document.id.string))]
        if let revision = document.revision { members.append(("_rev", .string(revision.description))) }
        if document.isDeleted { members.append(("_deleted", true)) }
        for member in document.json.object ?? [:] { members.append((member.name, member.value)) }
        if !document.attachments.isEmpty {
            members.append(("_attachments", .object(JSONObject(document.attachments.map { ($0.name, Self.stub($0)) }))))
        }
        return matches(JSON.object(JSONObject(members)))
    }

    private static func stub(_ attachment: Attachment) -> JSON {
        [
            "content_type": .string(attachment.contentType), "revpos": .number(JSONNumber(attachment.revpos)),
            "digest": .string(attachment.digest.description), "length": .number(JSONNumber(attachment.length)),
            "stub": true,
        ]
    }
}
