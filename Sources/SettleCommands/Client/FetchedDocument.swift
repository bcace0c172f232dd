internal import Settle
import SettleCore
import SettleDatabase

/// A document as a server sends it, with its history where that was asked for, and its attachments as stubs.
struct FetchedDocument: Sendable {
    let id: DocumentID
    let history: RevisionHistory
    let isDeleted: Bool
    let body: DocumentBody
    /// The attachments, whose contents stay at the server.
    let attachments: [DocumentAttachment]

    /// Reads a document; members that say what the server knows of it besides are passed over.
    ///
    /// - Throws: ``CommandError`` for JSON that is not a document.
    init(_ bytes: [UInt8]) throws {
        let reader = try DocumentReader.read(bytes, allowsReserved: true)
        var reserved: [String: JSONValue] = [:]
        for member in reader.reserved { reserved[member.name] = try JSONValue(utf8: member.value) }
        guard let id = reserved["_id"]?.string,
            let history = try DocumentParser.history(rev: reserved["_rev"], revisions: reserved["_revisions"])
        else { throw CommandError("bad_answer", "the server sent a document without _id or _rev", status: .damaged) }
        self.id = DocumentID(unchecked: id)
        self.history = history
        isDeleted = reserved["_deleted"] == true
        body = reader.body
        attachments = try (reserved["_attachments"]?.object ?? JSONObject()).map { try Self.stub($0.name, $0.value) }
    }

    /// The document, to be shown.
    var document: Document {
        Document(
            id: id, revision: history.revision, isDeleted: isDeleted,
            RevisionContent(body: body, attachments: attachments))
    }

    private static func stub(_ name: String, _ value: JSONValue) throws -> DocumentAttachment {
        guard let digest = value["digest"]?.string.flatMap({ AttachmentDigest($0) }),
            let elsewhere = DocumentAttachment.elsewhere(digest)
        else {
            throw CommandError(
                "bad_answer", "the server sent the attachment \"\(name)\" without digest", status: .damaged)
        }
        let length = Int64(value["length"]?.int ?? 0)
        guard length >= 0, value["encoded_length"]?.int ?? 0 >= 0 else {
            throw CommandError(
                "bad_answer", "the server sent the attachment \"\(name)\" with a length below zero", status: .damaged)
        }
        let encoding = value["encoding"]?.string.flatMap { DocumentAttachment.Encoding(rawValue: $0) } ?? .identity
        return DocumentAttachment(
            name: name, contentType: value["content_type"]?.string ?? "application/octet-stream",
            revpos: value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0, digest: digest, length: length,
            encodedLength: value["encoded_length"]?.int.map(Int64.init) ?? length, encoding: encoding, blob: elsewhere)
    }
}
