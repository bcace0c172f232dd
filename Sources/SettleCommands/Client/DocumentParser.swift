internal import Settle
import SettleCore
import SettleDatabase
internal import SettlePlatform

/// Makes documents of their JSON as `get`, `export`, CouchDB's `_all_docs` and people write it.
struct DocumentParser {
    let attachments: AttachmentImporter
    /// The member whose value is the id of a document that has no `_id`.
    var idMember: String?

    /// Reads a document.
    ///
    /// - Returns: The document, or `nil` for a piece of an attachment's content, which the importer has taken.
    /// - Throws: ``JSONError``, ``CommandError``, or ``DatabaseError`` of an attachment.
    func parse(_ bytes: [UInt8]) throws -> IncomingDocument? {
        let reader = try DocumentReader.read(bytes, allowsReserved: true)
        if reader.reserved.isEmpty, try attachments.add(piece: reader.body) { return nil }
        let document = try WireDocument(file: reader)
        let id = try id(document.id, reader.body)
        if id.isLocal { return .local(id, reader.body) }
        if case .impossible(let text) = document.revision { _ = try RevisionID(validating: text) }
        let files =
            document.attachments.isEmpty ? [] : try attachments.attachments(document.attachments, of: id)
        if let history = document.history ?? document.revision?.id.map({ RevisionHistory($0) }) {
            return .revision(
                ReplicatedRevision(
                    id: id, history: history, isDeleted: document.isDeleted, body: reader.body, attachments: files))
        }
        if document.isDeleted {
            throw CommandError.invalid("a deletion needs the _rev of its tombstone; use `settle delete` to delete")
        }
        return .edit(Document(id: id, body: reader.body, attachments: files))
    }

    private func id(_ text: String?, _ body: DocumentBody) throws -> DocumentID {
        if let text { return try DocumentID(validating: text) }
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
}

extension WireDocument {
    /// Reads a document of a file, or one that a person typed.
    ///
    /// - Throws: ``CommandError``, or the error of an invalid id or revision.
    init(file reader: DocumentReader) throws {
        do { try self.init(reader, .file) } catch let fault as Fault {
            switch fault {
            case .illegalID(let text): _ = try DocumentID(validating: text)
            case .invalidRevision(let text?): _ = try RevisionID(validating: text)
            default: break
            }
            throw CommandError.invalid(Self.words(for: fault))
        }
    }

    private static func words(for fault: Fault) -> String {
        switch fault {
        case .idIsNoString: "_id must be a string"
        case .illegalID(let text): "\"\(text)\" can't be the id of a document"
        case .invalidRevision: "_rev must be a string"
        case .member("_deleted"): "_deleted must be true or false"
        case .member(WireAttachment.listName): "_attachments must be an object"
        case .member(let name) where name != revisionsName:
            "a document can't have the member \"\(name)\"; names with _ are reserved"
        case .history(.idIsNoString), .history(.idIsNotHexadecimal): "_revisions contains an invalid id"
        case .member, .history: "_revisions must be {\"start\": N, \"ids\": […]}, with at most N ids"
        case .otherHistory(let revision, let other): "_rev is \(revision), but _revisions begin with \(other)"
        case .attachmentNumber(let name, let member): "\(member) of \"\(name)\" must be a number"
        case .attachmentData(let name): "the data of \"\(name)\" is not base64"
        }
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
    /// The attachments; `nil` if the JSON has no `_attachments`.
    let attachments: [WireAttachment]?

    /// Reads a document that is to be saved under an id.
    ///
    /// - Throws: ``JSONError``, or ``CommandError`` for reserved members that don't fit.
    init(_ bytes: [UInt8], id: DocumentID) throws {
        let reader = try DocumentReader.read(bytes, allowsReserved: true)
        let document = try WireDocument(file: reader)
        if let given = document.id, given != id.string {
            throw CommandError.invalid("the _id of the JSON is \"\(given)\", not \"\(id)\"")
        }
        if document.isDeleted { throw CommandError.invalid("use `settle delete` to delete a document") }
        if !id.isLocal, case .impossible(let text) = document.revision { _ = try RevisionID(validating: text) }
        body = document.body
        revision = id.isLocal ? nil : document.revision?.id
        attachments = reader.reserved.contains { $0.name == WireAttachment.listName } ? document.attachments : nil
    }

    /// The attachments as an edit has them: those without content are what the document has already.
    var editedAttachments: [WireAttachment]? {
        attachments?.map { attachment in
            guard case .inline = attachment.content else { return attachment }
            return WireAttachment(
                attachment.name, contentType: attachment.contentType, encoding: attachment.encoding,
                content: attachment.content)
        }
    }
}
