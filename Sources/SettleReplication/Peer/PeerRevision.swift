package import SettleCore
package import SettleDatabase

/// A revision in transfer between two peers.
package typealias PeerRevision = Revision<PeerAttachment>

extension PeerRevision {
    /// The memory of the revision in bytes: its body, its history, and the attachment contents that are not
    /// streamed.
    package var bytesInMemory: Int {
        attachments.reduce(body.utf8.count + 32 * history.signatures.count + 128) { sum, attachment in
            if case .bytes(let bytes) = attachment.content { sum + bytes.count } else { sum }
        }
    }
}

// MARK: - RevisionRequest

/// A revision that a target requests from its source.
package struct RevisionRequest: Sendable, Hashable {
    /// The document's id.
    package var id: DocumentID
    /// The revision.
    package var revision: RevisionID
    /// The revisions that the target has, newest first. The source may omit attachments that one of them has.
    package var knownAncestors: [RevisionID]
    /// Whether the revision is the source's own winner and a tombstone (SEMANTICS K2).
    package var isDeletionAtSource: Bool

    /// Creates a request.
    package init(
        id: DocumentID, revision: RevisionID, knownAncestors: [RevisionID] = [], isDeletionAtSource: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.knownAncestors = knownAncestors
        self.isDeletionAtSource = isDeletionAtSource
    }
}

// MARK: - RevisionAnswer

/// A source's answer to a ``RevisionRequest``.
package enum RevisionAnswer: Sendable {
    /// The revision.
    case found(PeerRevision)
    /// The source no longer has it, because it was compacted or purged, or does not allow the user to read it. A
    /// later change of the document replicates its successor.
    case missing(reason: String)
    /// The source can't return this revision at the moment, but can return others.
    case failed(PeerError)
    /// No database can store the revision as the source has it. The error says why, and a retry does not help.
    case refused(PeerError)
}

// MARK: - PeerAttachment

/// An attachment in transfer between two peers.
package struct PeerAttachment: Sendable {
    /// The place of the stored bytes, which are gzip bytes if that is the ``PeerAttachment/encoding``.
    package enum Content: Sendable {
        /// The target has them, in an ancestor that it reported as known.
        case stub
        /// They are in memory; only small ones are.
        case bytes([UInt8])
        /// They are streamed from the source.
        case source(any AttachmentSource)
    }

    /// The name, unique in its document.
    package var name: String
    /// The media type, as given.
    package var contentType: String
    /// The generation in which it was added or last changed.
    package var revpos: UInt64
    /// The digest of the stored bytes.
    package var digest: AttachmentDigest
    /// The length of the content, in bytes.
    package var length: Int64
    /// The length of the stored bytes.
    package var encodedLength: Int64
    /// The encoding of the stored bytes.
    package var encoding: DocumentAttachment.Encoding
    /// The place of the stored bytes.
    package var content: Content

    /// Creates an attachment.
    package init(
        name: String, contentType: String, revpos: UInt64, digest: AttachmentDigest, length: Int64,
        encodedLength: Int64, encoding: DocumentAttachment.Encoding, content: Content
    ) {
        self.name = name
        self.contentType = contentType
        self.revpos = revpos
        self.digest = digest
        self.length = length
        self.encodedLength = encodedLength
        self.encoding = encoding
        self.content = content
    }
}

// MARK: - AttachmentSource

/// The stored bytes of an attachment at a peer, which are read in bounded memory. An interrupted reading can be
/// resumed.
package protocol AttachmentSource: Sendable {
    /// Reads the stored bytes from an offset, and passes them on in order and in nonempty pieces. The next piece is
    /// read after `body` has returned.
    ///
    /// - Throws: ``PeerError``, transient if reading may succeed from the offset reached; errors of `body`.
    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws
}
