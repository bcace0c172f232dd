internal import Settle

/// Prints a document in CouchDB's form: the reserved members around the stored body, which is copied.
struct DocumentJSON {
    let document: Document
    /// Written as `_revisions`.
    var history: RevisionHistory?
    /// Additional members before the body.
    var others: [(String, JSONValue)] = []
    /// Written as `_attachments`; stubs by default.
    var attachments: JSONValue?

    init(_ document: Document) { self.document = document }

    /// The document as compact JSON.
    var bytes: [UInt8] {
        var bytes = Array("{\"_id\":".utf8)
        JSONValue.append(document.id.string, to: &bytes)
        if let revision = document.revision { append("_rev", .string(revision.description), to: &bytes) }
        if let history { append("_revisions", Self.revisions(history), to: &bytes) }
        if document.isDeleted { append("_deleted", true, to: &bytes) }
        for (name, value) in others { append(name, value, to: &bytes) }
        let members = document.bodyOrEmpty.utf8.dropFirst().dropLast()
        if !members.isEmpty {
            bytes.append(UInt8(ascii: ","))
            bytes.append(contentsOf: members)
        }
        if !document.attachments.isEmpty {
            append("_attachments", attachments ?? Self.stubs(document.attachments), to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private func append(_ name: String, _ value: JSONValue, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: ","))
        JSONValue.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        value.append(to: &bytes)
    }

    /// A history as CouchDB's `_revisions`.
    static func revisions(_ history: RevisionHistory) -> JSONValue {
        [
            "start": .number(JSONNumber(history.start)),
            "ids": .array(history.signatures.map { .string($0.description) }),
        ]
    }

    /// Attachments as CouchDB's `_attachments`, without content.
    static func stubs(_ attachments: [DocumentAttachment]) -> JSONValue {
        .object(JSONObject(attachments.map { ($0.name, .object(JSONObject(described($0) + [("stub", true)]))) }))
    }

    /// The members of an attachment except its content.
    static func described(_ attachment: DocumentAttachment) -> [(String, JSONValue)] {
        [
            ("content_type", .string(attachment.contentType)), ("revpos", .number(JSONNumber(attachment.revpos))),
            ("digest", .string(attachment.digest.description)), ("length", .number(JSONNumber(attachment.length))),
        ]
    }
}
