package import SettleCore
internal import SettleDatabase

/// Makes documents of their JSON as `get`, `export`, CouchDB's `_all_docs` and people write it.
struct DocumentParser {
    let attachments: AttachmentImporter
    /// The member whose value is the id of a document that has no `_id`.
    var idAttribute: String?
    /// Whether a document is refused that names an attachment whose content is not there.
    var isStrict = false
    /// Makes the id of a document that has neither `_id` nor such a member.
    let newID: () -> String

    /// What a text holds.
    struct Parsed {
        let document: IncomingDocument
        /// The attachments whose contents are not there.
        var missing: [String] = []
        /// Whether the text says that the document has conflicts.
        var hasConflicts = false
    }

    /// Reads a document.
    ///
    /// - Returns: The document, or `nil` for a piece of an attachment's content, which the importer has taken.
    /// - Throws: ``JSONError``, or ``DatabaseError``.
    func parse(_ bytes: [UInt8], isDeletionAtSource: Bool = false, idPrefix: String = "") throws -> Parsed? {
        let reader = try DocumentReader.read(bytes, allowsReserved: true)
        if reader.reserved.isEmpty, try attachments.add(piece: reader.body) { return nil }
        let document = try WireDocument(file: reader)
        let id = try id(document.id, reader.body, idPrefix)
        if id.isLocal { return Parsed(document: .local(id, reader.body)) }
        if case .impossible(let text) = document.revision { _ = try RevisionID(validating: text) }
        let (files, missing) = try files(of: document, id)
        let hasConflicts = reader.reserved.contains { $0.name == "_conflicts" && $0.value.count > 2 }
        if let history = document.history ?? document.revision?.id.map({ RevisionHistory($0) }) {
            let revision = ReplicatedRevision(
                id: id, history: history, isDeleted: document.isDeleted,
                isDeletionAtSource: isDeletionAtSource && document.isDeleted, body: reader.body, attachments: files)
            return Parsed(document: .revision(revision), missing: missing, hasConflicts: hasConflicts)
        }
        if document.isDeleted {
            throw DatabaseError(
                .invalid, "a deletion needs the _rev of its tombstone; use `settle delete` to delete")
        }
        return Parsed(document: .edit(Document(id: id, body: reader.body, attachments: files)), missing: missing)
    }

    private func files(
        of document: WireDocument, _ id: DocumentID
    ) throws -> (found: [DocumentAttachment], missing: [String]) {
        if document.attachments.isEmpty { return ([], []) }
        if isStrict { return (try attachments.attachments(document.attachments, of: id), []) }
        return try attachments.attachmentsAtHand(document.attachments, of: id)
    }

    private func id(_ text: String?, _ body: DocumentBody, _ prefix: String) throws -> DocumentID {
        if let text { return try DocumentID(validating: text) }
        guard let idAttribute else { return try DocumentID(validating: prefix + newID()) }
        switch body[idAttribute] {
        case .string(let text): return try DocumentID(validating: prefix + text)
        case .number(let number): return try DocumentID(validating: prefix + number.text)
        case nil: throw DatabaseError(.invalid, "there is neither _id nor the member \"\(idAttribute)\"")
        default: throw DatabaseError(.invalid, "the member \"\(idAttribute)\" is neither a string nor a number")
        }
    }
}

extension WireDocument {
    /// Reads a document of a file, or one that a person typed.
    ///
    /// - Throws: ``DatabaseError``, or the error of an invalid id or revision.
    package init(file reader: DocumentReader) throws {
        do { try self.init(reader, .file) } catch let fault as Fault {
            switch fault {
            case .illegalID(let text): _ = try DocumentID(validating: text)
            case .invalidRevision(let text?): _ = try RevisionID(validating: text)
            default: break
            }
            throw DatabaseError(.invalid, Self.words(for: fault))
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

    /// The document's attachments.
    var attachments: [DocumentAttachment] {
        switch self {
        case .edit(let document): document.attachments
        case .revision(let revision): revision.attachments
        case .local: []
        }
    }
}
