public import SettleCore

/// What one revision holds.
public struct RevisionContent: Sendable, Hashable {
    /// The document's members.
    public var body: DocumentBody
    /// The attachments, in the document's order.
    public var attachments: [Attachment]

    /// Makes a content.
    public init(body: DocumentBody, attachments: [Attachment] = []) {
        self.body = body
        self.attachments = attachments
    }
}
