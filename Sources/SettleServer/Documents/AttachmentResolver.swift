internal import SettleCore
internal import SettleDatabase

/// The contents of a document's attachments that are outside of its JSON.
struct FollowingContents: Sendable {
    /// By the bytes of the names, because Swift considers two spellings of one accented letter equal.
    private var contents: [[UInt8]: DocumentAttachment] = [:]
    /// The digests of the bytes that came, where they may be compressed since.
    private var received: [[UInt8]: AttachmentDigest] = [:]

    /// The content of an attachment.
    subscript(name: String) -> DocumentAttachment? {
        get { contents[Array(name.utf8)] }
        set { contents[Array(name.utf8)] = newValue }
    }

    /// Adds a content, with the digest of the bytes that came.
    mutating func add(_ content: DocumentAttachment, received digest: AttachmentDigest?) {
        self[content.name] = content
        received[Array(content.name.utf8)] = digest
    }

    /// Whether the bytes that came for an attachment have a digest.
    func came(as name: String, with digest: String?) -> Bool {
        digest.flatMap { AttachmentDigest($0) }.map { $0 == received[Array(name.utf8)] } ?? false
    }

    /// The contents as new in a generation.
    func described(in generation: UInt64) throws -> FollowingContents {
        var described = self
        described.contents = try contents.mapValues {
            try $0.described(as: $0.name, contentType: $0.contentType, revpos: generation)
        }
        return described
    }
}

/// Builds the attachments of a document to write: stores contents, and resolves stubs.
struct AttachmentResolver {
    let database: Database

    /// The attachments of an edit.
    ///
    /// - Parameters:
    ///   - document: The edit.
    ///   - following: Its contents that are outside of its JSON.
    ///   - id: The document's id.
    ///   - branches: Whether the edit may begin a branch on any known revision.
    /// - Returns: The attachments, with their contents in the database.
    /// - Throws: ``HTTPError/conflict`` if the edit is a conflict already; `missing_stub` for a stub without an attachment.
    func attachments(
        of document: WireDocument, _ following: FollowingContents, id: DocumentID, branches: Bool = false
    ) throws -> [DocumentAttachment] {
        try resolve(document, following, id, generation: (document.revision?.id?.generation ?? 0) + 1) {
            guard let record = try database.record(of: id) else { return nil }
            guard let parent = document.revision else {
                if record.tree.isDeleted { return nil }
                throw HTTPError.conflict
            }
            guard let revision = parent.id, let node = record.tree[revision], node.isLeaf || branches else {
                throw HTTPError.conflict
            }
            return try database.content(of: revision, in: record)?.attachments
        }
    }

    /// The attachments of a replicated revision; stubs refer to its nearest known ancestor.
    ///
    /// - Throws: `missing_stub` for a stub that is not the ancestor's attachment; a replicator then sends the content.
    ///   `content_md5_mismatch` for a content that is not what its digest says.
    func attachments(
        of document: WireDocument, _ following: FollowingContents, id: DocumentID, history: RevisionHistory
    ) throws -> [DocumentAttachment] {
        try resolve(document, following, id, generation: nil) {
            guard let record = try database.record(of: id) else { return nil }
            for revision in history.revisions {
                if let content = try database.content(of: revision, in: record) { return content.attachments }
            }
            return nil
        }
    }

    /// Makes the attachments of a document.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - following: Its contents that are outside of its JSON.
    ///   - id: Its id.
    ///   - generation: The generation of an edit, in which contents that are sent are new; `nil` for a replicated revision.
    ///   - earlier: Reads the attachments that stubs refer to.
    /// - Returns: The attachments, with their contents in the database.
    /// - Throws: ``HTTPError``, `missing_stub` for a stub without an attachment; ``DatabaseError``.
    private func resolve(
        _ document: WireDocument, _ following: FollowingContents, _ id: DocumentID, generation: UInt64?,
        _ earlier: () throws -> [DocumentAttachment]?
    ) throws -> [DocumentAttachment] {
        guard !document.attachments.isEmpty else { return [] }
        var known: [DocumentAttachment]?
        return try document.attachments.map { attachment in
            try WireAttachment.check(name: attachment.name)
            switch attachment.content {
            case .inline(let bytes):
                return try stored(bytes, attachment, revpos: generation ?? attachment.revpos ?? 0)
            case .follows:
                guard let content = following[attachment.name] else {
                    throw HTTPError.badRequest("the content of attachment \(attachment.name) does not follow")
                }
                guard
                    generation != nil || Self.isDigest(attachment.digest, of: content)
                        || following.came(as: attachment.name, with: attachment.digest)
                else { throw HTTPError.otherContent }
                return content
            case .stub:
                let before = try known ?? earlier() ?? []
                known = before
                let same = before.first { $0.name.utf8.elementsEqual(attachment.name.utf8) }
                let isThere = same.map { same in
                    !attachment.hasWrongRevpos && (attachment.revpos ?? same.revpos) == same.revpos
                        && (generation != nil || Self.isDigest(attachment.digest, of: same))
                }
                guard let same, isThere == true else {
                    throw HTTPError.missingStub("Invalid attachment stub in \(id) for \(attachment.name)")
                }
                return same
            }
        }
    }

    /// Whether an attachment is the one that a peer means by a digest. Other kinds of digests than MD5 are ignored.
    private static func isDigest(_ text: String?, of attachment: DocumentAttachment) -> Bool {
        text.flatMap { AttachmentDigest($0) }.map { $0 == attachment.digest } ?? true
    }

    private func stored(
        _ bytes: [UInt8], _ attachment: WireAttachment, revpos: UInt64
    ) throws -> DocumentAttachment {
        let made = try database.makeAttachment(
            attachment.name, contentType: attachment.contentType, content: bytes)
        return try made.described(as: attachment.name, contentType: attachment.contentType, revpos: revpos)
    }
}
