public import SettleCore

/// The content of a revision.
public struct RevisionContent: Sendable, Hashable {
    /// The document's members.
    public var body: DocumentBody
    /// The attachments, in the document's order.
    public var attachments: [Attachment]

    /// Creates a content.
    public init(body: DocumentBody, attachments: [Attachment] = []) {
        self.body = body
        self.attachments = attachments
    }
}
