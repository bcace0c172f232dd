package import RevisionTree

/// An edit as CouchDB's interactive writes bring it: what shall become of a document, and on which revision.
package struct DocumentEdit: Sendable {
    /// The document's id.
    package var id: DocumentID
    /// The leaf it is an edit of; `nil` for a document that is new, or deleted and to be there again.
    package var parent: RevisionID?
    /// Whether it deletes the document; a tombstone may be a document's first revision.
    package var isDeleted: Bool
    /// The members.
    package var body: DocumentBody
    /// The attachments, in order.
    package var attachments: [Attachment]

    /// Makes an edit.
    package init(
        id: DocumentID, parent: RevisionID?, isDeleted: Bool = false, body: DocumentBody,
        attachments: [Attachment] = []
    ) {
        self.id = id
        self.parent = parent
        self.isDeleted = isDeleted
        self.body = body
        self.attachments = attachments
    }
}
