public import SettleCore

/// The content of a revision.
public struct RevisionContent: Sendable, Hashable {
    /// The document's members.
    public var body: DocumentBody
    /// The attachments, in the document's order.
    public var attachments: [DocumentAttachment]

    /// Creates a content.
    public init(body: DocumentBody, attachments: [DocumentAttachment] = []) {
        self.body = body
        self.attachments = attachments
    }
}
