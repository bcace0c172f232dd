internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// The contents of blobs and attachments, found by the digests that Couchbase Lite uses.
struct MobileAttachments {
    let database: Database
    /// The digests of contents that were read before.
    var digests = ContentDigests()

    /// The contents of a revision's nearest stored ancestor, by digest.
    ///
    /// Each digest is computed from the bytes, because the digest in the document may be wrong.
    ///
    /// - Parameters:
    ///   - digests: The digests to find.
    ///   - path: The revision and its ancestors, the newest first.
    ///   - id: The document.
    ///   - readsAll: Whether to read attachments whose digest is in no member; otherwise only blobs are considered.
    /// - Returns: The contents.
    /// - Throws: ``DatabaseError``.
    func known(
        _ digests: Set<String>, _ path: [RevisionID], of id: DocumentID, readsAll: Bool
    ) throws -> [String: DocumentAttachment] {
        guard let record = try database.record(of: id) else { return [:] }
        for revision in path {
            guard let content = try database.content(of: revision, in: record) else { continue }
            let said = Self.digestsOfBlobs(in: content)
            let known = try content.attachments.compactMap { attachment -> (String, DocumentAttachment)? in
                guard said[ExactText(attachment.name)].map(digests.contains) ?? readsAll,
                    attachment.length <= MobileLimits.largestContent
                else { return nil }
                return (try digest(of: attachment), attachment)
            }
            return Dictionary(known) { first, _ in first }
        }
        return [:]
    }

    /// `getAttachment`: the content of a document with a digest.
    func answer(_ message: BLIPMessage) throws -> BLIPMessage {
        guard let digest = message.properties["digest"], let id = message.properties["docID"] else {
            throw BLIPError.http(400, "getAttachment needs `digest` and `docID`")
        }
        return BLIPMessage(.reply, body: try content(digest, of: DocumentID(unchecked: id)))
    }

    /// The content with a digest in a leaf of a document; the winner is searched first.
    ///
    /// - Throws: ``BLIPError`` with status 404 if no leaf has it, and 413 if it is too large.
    private func content(_ digest: String, of id: DocumentID) throws -> [UInt8] {
        guard let record = try database.record(of: id) else { throw BLIPError.http(404, "missing") }
        for leaf in record.tree.leaves {
            guard let content = try database.content(of: leaf.revision, in: record) else { continue }
            let blobs = Self.digestsOfBlobs(in: content)
            // The digests in the documents only decide which contents are read first; the bytes decide which one
            // is returned.
            let said = content.attachments.filter { blobs[ExactText($0.name)] == digest }
            for attachment in said + content.attachments.filter({ blobs[ExactText($0.name)] != digest }) {
                guard attachment.length <= MobileLimits.largestContent else {
                    let expected = blobs[ExactText(attachment.name)] ?? Self.standIn(for: attachment)
                    guard expected == digest else { continue }
                    throw BLIPError.http(413, "the attachment \(attachment.name) is too large for Couchbase Lite")
                }
                if let known = digests[attachment], known != digest { continue }
                let bytes = try database.content(of: attachment)
                let found = MobileDigest.of(bytes)
                digests[attachment] = found
                if found == digest { return bytes }
            }
        }
        throw BLIPError.http(404, "no attachment of \"\(id)\" has this digest")
    }

    /// The list `_attachments` of a revision: its attachments and, if there are any, also its blobs, as Sync
    /// Gateway does.
    ///
    /// If a document has this list, Couchbase Lite accepts it only if the list has the digest of each blob. If a
    /// blob's digest in the list differs from the one in its member, Couchbase Lite changes the member. So blobs
    /// are also listed when another client has changed a blob's content but not its member.
    ///
    /// A content that is too large is listed too. The request for it is answered with an error, which the app sees.
    ///
    /// - Parameter revision: The revision.
    /// - Returns: The stubs; empty if the revision has only blobs and their members are right.
    /// - Throws: ``DatabaseError``.
    func stubs(of revision: ReplicatedRevision) throws -> [WireAttachment] {
        guard !revision.attachments.isEmpty else { return [] }
        let blobs = MobileBlob.all(in: revision.body)
        let names = Set(blobs.map { ExactText($0.attachmentName) })
        let contents = Dictionary(revision.attachments.map { (ExactText($0.name), $0) }) { first, _ in first }
        var areNeeded = false
        var stubs = try revision.attachments.filter { !names.contains(ExactText($0.name)) }.map { attachment in
            areNeeded = true
            return stub(of: attachment, digest: try listedDigest(of: attachment))
        }
        stubs += try blobs.map { blob in
            guard let attachment = contents[ExactText(blob.attachmentName)] else {
                return WireAttachment(
                    blob.attachmentName, contentType: blob.contentType, revpos: revision.history.start,
                    digest: blob.digest, length: blob.length, content: .stub)
            }
            let isLarge = attachment.length > MobileLimits.largestContent
            let digest = isLarge ? blob.digest : try digest(of: attachment)
            areNeeded = areNeeded || digest != blob.digest
            return stub(of: attachment, digest: digest)
        }
        return areNeeded ? stubs : []
    }

    private func stub(of attachment: DocumentAttachment, digest: String) -> WireAttachment {
        WireAttachment(
            attachment.name, contentType: attachment.contentType, revpos: attachment.revpos, digest: digest,
            length: attachment.length, content: .stub)
    }

    private func listedDigest(of attachment: DocumentAttachment) throws -> String {
        attachment.length > MobileLimits.largestContent ? Self.standIn(for: attachment) : try digest(of: attachment)
    }

    /// The digest of a content, which is read unless the digest is known.
    func digest(of attachment: DocumentAttachment) throws -> String {
        if let known = digests[attachment] { return known }
        let found = MobileDigest.of(try database.content(of: attachment))
        digests[attachment] = found
        return found
    }

    /// A placeholder for the digest of a content that is too large to be read at once. No content has this digest.
    private static func standIn(for attachment: DocumentAttachment) -> String {
        MobileDigest.of(Array("too large: \(attachment.digest)".utf8))
    }

    /// The digests in the members of a document's blobs, by the names of their attachments.
    private static func digestsOfBlobs(in content: RevisionContent) -> [ExactText: String] {
        content.attachments.isEmpty ? [:] : MobileBlob.digests(in: content.body)
    }
}
