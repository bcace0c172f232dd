public import SettleCore

/// A revision from a peer, with its history. The contents of its attachments must be in the database or pending.
public typealias ReplicatedRevision = Revision<DocumentAttachment>

extension Revision where Attachment == DocumentAttachment {
    /// The outcome for a replicated revision.
    public enum Outcome: Sendable {
        /// It was stored.
        case stored
        /// It was known; nothing was written (SEMANTICS 200).
        case known
        /// It was refused, with the reason; the rest of its batch is not affected (SEMANTICS 117).
        case refused(DatabaseError)
    }
}

// MARK: - RevisionsDiff

/// The revisions of a document that a peer has and a database lacks: one row of CouchDB's `_revs_diff`.
public struct RevisionsDiff: Sendable, Hashable {
    /// The document's id.
    public let id: DocumentID
    /// The revisions that are not here.
    public let missing: [RevisionID]
    /// Leaves here that the missing revisions may descend from. If a peer has one of them, it may omit everything
    /// that the leaf has, too.
    public let possibleAncestors: [RevisionID]

    /// Creates a row.
    public init(id: DocumentID, missing: [RevisionID], possibleAncestors: [RevisionID] = []) {
        self.id = id
        self.missing = missing
        self.possibleAncestors = possibleAncestors
    }
}

// MARK: - KnownAttachments

/// The attachments of the newest ancestor of a revision that a peer has. Their contents need not be sent again.
package struct KnownAttachments {
    private let generation: UInt64
    /// The ancestor's attachments; `nil` if its content is not kept here.
    private let attachments: [DocumentAttachment]?

    /// Finds the attachments of a revision that a peer already has; `nil` if the peer has no ancestor.
    ///
    /// - Parameters:
    ///   - known: The revisions that the peer has.
    ///   - history: The revision and its ancestors, newest first.
    ///   - content: Reads the content of an ancestor.
    /// - Throws: The error that `content` throws, except for a damaged document.
    package init?(
        of known: some Sequence<RevisionID>, in history: RevisionHistory,
        content: (RevisionID) throws -> RevisionContent?
    ) throws {
        let known = Set(known)
        guard !known.isEmpty, let ancestor = history.revisions.first(where: known.contains) else { return nil }
        generation = ancestor.generation
        do { attachments = try content(ancestor)?.attachments } catch let error as DatabaseError
            where error.code == .damagedDocument
        { attachments = nil }
    }

    /// Whether the peer has an attachment of the revision, so that a stub is enough.
    ///
    /// The `revpos` alone may be wrong: an attachment that was imported without one has 0, whatever the ancestor's
    /// content is. So the digest must be that of the ancestor, too. If the ancestor's content is not kept, a
    /// `revpos` other than 0 is trusted.
    package func contains(_ attachment: DocumentAttachment) -> Bool {
        guard attachment.revpos <= generation else { return false }
        guard let attachments else { return attachment.revpos > 0 }
        return attachments.contains {
            $0.isNamed(attachment.name) && $0.digest == attachment.digest && $0.revpos == attachment.revpos
        }
    }
}
