internal import Settle
import SettleCore
import SettleDatabase
internal import SettlePlatform

/// Makes documents of their JSON as `get`, `export`, CouchDB's `_all_docs` and people write it.
struct DocumentParser {
    let attachments: AttachmentImporter
    /// The member whose value is the id of a document that has no `_id`.
    var idMember: String?

    /// Reserved members that say what a peer knew, and are computed anew here.
    private static let ignored: Set<String> = ["_conflicts", "_deleted_conflicts", "_revs_info", "_local_seq"]

    /// Reads a document.
    ///
    /// - Returns: The document, or `nil` for a piece of an attachment's content, which the importer has taken.
    /// - Throws: ``JSONError``, ``CommandError``, or ``DatabaseError`` of an attachment.
    func parse(_ bytes: [UInt8]) throws -> IncomingDocument? {
        let reader = try DocumentReader.read(bytes, allowsReserved: true)
        if reader.reserved.isEmpty, try attachments.add(piece: reader.body) { return nil }
        var reserved: [String: JSONValue] = [:]
        for member in reader.reserved { reserved[member.name] = try JSONValue(utf8: member.value) }
        let id = try id(reserved["_id"], reader.body)
        if id.isLocal { return .local(id, reader.body) }
        let known: Set = ["_id", "_rev", "_revisions", "_deleted", "_attachments"]
        if let other = reserved.keys.filter({ !known.contains($0) && !Self.ignored.contains($0) }).min() {
            throw CommandError.invalid("a document can't have the member \"\(other)\"; names with _ are reserved")
        }
        let isDeleted = try Self.flag(reserved["_deleted"], "_deleted")
        let history = try Self.history(rev: reserved["_rev"], revisions: reserved["_revisions"])
        let files = try reserved["_attachments"].map { try attachments.attachments($0, of: id) } ?? []
        if let history {
            return .revision(
                ReplicatedRevision(
                    id: id, history: history, isDeleted: isDeleted, body: reader.body, attachments: files))
        }
        if isDeleted {
            throw CommandError.invalid("a deletion needs the _rev of its tombstone; use `settle delete` to delete")
        }
        return .edit(Document(id: id, body: reader.body, attachments: files))
    }

    private func id(_ value: JSONValue?, _ body: DocumentBody) throws -> DocumentID {
        if let value {
            guard let text = value.string else { throw CommandError.invalid("_id must be a string") }
            return try DocumentID(validating: text)
        }
        guard let idMember else { return Self.newID() }
        switch body[idMember] {
        case .string(let text): return try DocumentID(validating: text)
        case .number(let number): return try DocumentID(validating: number.text)
        case nil: throw CommandError.invalid("there is neither _id nor the member \"\(idMember)\"")
        default: throw CommandError.invalid("the member \"\(idMember)\" is neither a string nor a number")
        }
    }

    /// An id nobody has: 32 hex digits, as CouchDB makes them.
    static func newID() -> DocumentID {
        DocumentID(unchecked: SecureRandom.hexadecimal())
    }

    static func flag(_ value: JSONValue?, _ name: String) throws -> Bool {
        guard let value else { return false }
        guard let flag = value.bool else { throw CommandError.invalid("\(name) must be true or false") }
        return flag
    }

    /// The history a document came with: `_revisions`, or `_rev` alone.
    static func history(rev: JSONValue?, revisions: JSONValue?) throws -> RevisionHistory? {
        let revision = try rev.map { value in
            guard let text = value.string else { throw CommandError.invalid("_rev must be a string") }
            return try RevisionID(validating: text)
        }
        guard let revisions else { return revision.map { RevisionHistory($0) } }
        guard let start = revisions["start"]?.int.flatMap({ UInt64(exactly: $0) }), let ids = revisions["ids"]?.array
        else { throw CommandError.invalid("_revisions must be {\"start\": N, \"ids\": […]}") }
        let signatures = try ids.map { id in
            guard let signature = id.string.flatMap({ RevisionSignature($0) }) else {
                throw CommandError.invalid("_revisions contains an invalid id: \(id)")
            }
            return signature
        }
        let history = try RevisionHistory(start: start, signatures: signatures)
        if let revision, revision != history.revision {
            throw CommandError.invalid("_rev is \(revision), but _revisions begin with \(history.revision)")
        }
        return history
    }
}

/// A document of an input, ready to be stored.
enum IncomingDocument: Sendable {
    /// A document without history: it becomes an edit here.
    case edit(Document)
    /// A revision with its history: it is stored as it is.
    case revision(ReplicatedRevision)
    /// A document that stays in one database.
    case local(DocumentID, DocumentBody)

    /// The document's id.
    var id: DocumentID {
        switch self {
        case .edit(let document): document.id
        case .revision(let revision): revision.id
        case .local(let id, _): id
        }
    }
}

// MARK: - GivenDocument

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
