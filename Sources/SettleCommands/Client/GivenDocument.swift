internal import Settle
import SettleCore

/// A document as someone typed it: a body, and the reserved members of one that `get` wrote.
struct GivenDocument {
    /// The members.
    let body: DocumentBody
    /// The `_rev`, where there is one.
    let revision: RevisionID?
    /// The `_attachments`, where there are some.
    let attachments: JSONValue?

    private static let ignored: Set<String> = [
        "_conflicts", "_deleted_conflicts", "_revisions", "_revs_info", "_local_seq",
    ]

    /// Reads a document that is to be saved under an id.
    ///
    /// - Throws: ``JSONError``, or ``CommandError`` for reserved members that don't fit.
    init(_ bytes: [UInt8], id: DocumentID) throws {
        let reader = try DocumentReader.read(bytes, allowsReserved: true)
        var reserved: [String: JSONValue] = [:]
        for member in reader.reserved { reserved[member.name] = try JSONValue(utf8: member.value) }
        if let given = reserved.removeValue(forKey: "_id"), given.string != id.string {
            throw CommandError.invalid("the _id of the JSON is \(given), not \"\(id)\"")
        }
        let history = id.isLocal ? nil : try DocumentParser.history(rev: reserved["_rev"], revisions: nil)
        if try DocumentParser.flag(reserved["_deleted"], "_deleted") {
            throw CommandError.invalid("use `settle delete` to delete a document")
        }
        attachments = reserved["_attachments"]
        for name in ["_rev", "_deleted", "_attachments"] { reserved[name] = nil }
        if let other = reserved.keys.filter({ !Self.ignored.contains($0) }).min() {
            throw CommandError.invalid("a document can't have the member \"\(other)\"; names with _ are reserved")
        }
        body = reader.body
        revision = history?.revision
    }

    /// The `_attachments` as an edit has them: those without content are what the document has already.
    var wireAttachments: JSONValue? {
        get throws {
            try attachments.map { attachments in
                guard let members = attachments.object else {
                    throw CommandError.invalid("_attachments must be an object")
                }
                return .object(
                    JSONObject(
                        members.map { member in
                            var value = member.value
                            if value["data"] != nil {
                                for name in ["digest", "length", "revpos", "encoded_length"] { value[name] = nil }
                            } else if value["follows"] == nil {
                                value["stub"] = true
                            }
                            return (member.name, value)
                        }))
            }
        }
    }
}
