package import SettleCore
internal import SettleDatabase

/// A revision in transfer between two peers.
package struct PeerRevision: Sendable {
    /// The document's id.
    package var id: DocumentID
    /// The revision and its ancestors, newest first.
    package var history: RevisionHistory
    /// Whether it is a tombstone.
    package var isDeleted: Bool
    /// Whether it is the source's own winner and a tombstone (SEMANTICS K2).
    package var isDeletionAtSource: Bool
    /// The members without the reserved ones.
    package var body: DocumentBody
    /// The attachments, in order.
    package var attachments: [PeerAttachment]
    /// Leaves at the target that the revision replaces, because they are former states of the source.
    var replaced: [RevisionID] = []
    /// The states of the source, if edits at the target were made on another one than this revision.
    var formerState: FormerState?

    /// Creates a revision.
    package init(
        id: DocumentID, history: RevisionHistory, isDeleted: Bool = false, isDeletionAtSource: Bool = false,
        body: DocumentBody = .empty, attachments: [PeerAttachment] = []
    ) {
        self.id = id
        self.history = history
        self.isDeleted = isDeleted
        self.isDeletionAtSource = isDeletionAtSource
        self.body = body
        self.attachments = attachments
    }

    /// The revision itself.
    package var revision: RevisionID { history.revision }

    /// How many bytes it has in memory: body, history, and attachment contents that are not streamed.
    package var bytesInMemory: Int {
        attachments.reduce(body.utf8.count + 32 * history.signatures.count + 128) { sum, attachment in
            if case .bytes(let bytes) = attachment.content { sum + bytes.count } else { sum }
        }
    }
}
