internal import Settle
import SettleCore
import SettleDatabase
internal import SettleImport

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
