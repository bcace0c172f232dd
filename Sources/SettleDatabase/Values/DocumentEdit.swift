package import SettleCore

/// An edit from CouchDB's interactive writes: a document's new content, and the revision it is based on.
package struct DocumentEdit: Sendable {
    /// The document's id.
    package var id: DocumentID
    /// The leaf it is an edit of; `nil` to create a document, or to revive a deleted one.
    package var parent: RevisionID?
    /// Whether it deletes the document; a tombstone may be a document's first revision.
    package var isDeleted: Bool
    /// The members.
    package var body: DocumentBody
    /// The attachments, in order.
    package var attachments: [DocumentAttachment]

    /// Creates an edit.
    package init(
        id: DocumentID, parent: RevisionID?, isDeleted: Bool = false, body: DocumentBody,
        attachments: [DocumentAttachment] = []
    ) {
        self.id = id
        self.parent = parent
        self.isDeleted = isDeleted
        self.body = body
        self.attachments = attachments
    }
}
