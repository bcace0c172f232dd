internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// The contents of blobs and attachments, by the digests that Couchbase Lite gives them.
struct MobileAttachments {
    let database: Database

    /// The contents that the nearest stored ancestor of a revision has, by their digests.
    ///
    /// Each digest is computed from the bytes, because the digest in the document may be wrong.
    ///
    /// - Parameters:
    ///   - digests: The digests that are looked for.
    ///   - path: The revision and its ancestors, the newest first.
    ///   - id: The document.
    ///   - readsAll: Whether attachments are read whose digests no member says; else only blobs are among them.
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
                guard said[attachment.name].map(digests.contains) ?? readsAll,
                    attachment.length <= MobileStub.largestContent
                else { return nil }
                return (MobileDigest.of(try read(attachment)), attachment)
            }
            return Dictionary(known) { first, _ in first }
        }
        return [:]
    }

    /// `getAttachment`: the content with a digest that a document has.
    func answer(_ message: BLIPMessage) throws -> BLIPMessage {
        guard let digest = message.properties["digest"], let id = message.properties["docID"] else {
            throw BLIPError.http(400, "getAttachment needs `digest` and `docID`")
        }
        return BLIPMessage(.reply, body: try content(digest, of: DocumentID(unchecked: id)))
    }

    /// The content with a digest in a leaf of a document, the winner first.
    ///
    /// - Throws: ``BLIPError`` with status 404 if no leaf has it, and 413 if it is too large.
    private func content(_ digest: String, of id: DocumentID) throws -> [UInt8] {
        guard let record = try database.record(of: id) else { throw BLIPError.http(404, "missing") }
        for leaf in record.tree.leaves {
            guard let content = try database.content(of: leaf.revision, in: record) else { continue }
            let blobs = Self.digestsOfBlobs(in: content)
            // The digests in the documents decide which contents are read first. The bytes decide which one is returned.
            let said = content.attachments.filter { blobs[$0.name] == digest }
            for attachment in said + content.attachments.filter({ blobs[$0.name] == nil }) {
                let bytes = try read(attachment)
                if MobileDigest.of(bytes) == digest { return bytes }
            }
        }
        throw BLIPError.http(404, "no attachment of \"\(id)\" has this digest")
    }

    /// The stubs of the attachments that are not blobs.
    ///
    /// - Throws: ``BLIPError`` with status 413 for one that is too large.
    func stubs(of content: RevisionContent) throws -> [MobileStub] {
        let blobs = Self.digestsOfBlobs(in: content)
        return try content.attachments.filter { blobs[$0.name] == nil }.map { attachment in
            MobileStub(
                attachment.name, digest: MobileDigest.of(try read(attachment)), contentType: attachment.contentType,
                length: attachment.length, revpos: attachment.revpos)
        }
    }

    private func read(_ attachment: DocumentAttachment) throws -> [UInt8] {
        guard attachment.length <= MobileStub.largestContent else {
            throw BLIPError.http(413, "the attachment \(attachment.name) is too large for Couchbase Lite")
        }
        return try database.content(of: attachment)
    }

    /// The digests that the blobs of a document say, by the names of their attachments.
    private static func digestsOfBlobs(in content: RevisionContent) -> [String: String] {
        content.attachments.isEmpty ? [:] : MobileBlob.digests(in: content.body)
    }
}
