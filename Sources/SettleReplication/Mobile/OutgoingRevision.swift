internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A message `rev` to a server: a revision, and the contents that the server may ask for.
struct OutgoingRevision {
    let properties: [String: String]
    let body: [UInt8]
    /// The contents of blobs and attachments, by their digests.
    let contents: [String: [UInt8]]

    private static let largest = MobileStub.largestContent

    /// Reads the contents of a revision's attachments.
    ///
    /// - Parameters:
    ///   - revision: The revision.
    ///   - listsBlobs: Whether blobs are listed in `_attachments`, too, where Sync Gateway looks for them.
    /// - Throws: ``PeerError`` with code `tooLarge` for a content of more than 20 MiB, or as reading it fails.
    init(_ revision: PeerRevision, listsBlobs: Bool) async throws {
        var properties = ["id": revision.id.string, "rev": revision.revision.description, "noconflicts": "true"]
        let history = revision.history.ancestors()
        if !history.isEmpty { properties["history"] = history }
        if revision.isDeleted { properties["deleted"] = "1" }
        let blobs = MobileBlob.digests(in: revision.body)
        var (contents, stubs) = ([String: [UInt8]](), [MobileStub]())
        for attachment in revision.attachments {
            let content = try await Self.content(of: attachment, of: revision)
            let digest = blobs[attachment.name] ?? MobileDigest.of(content)
            contents[digest] = content
            guard listsBlobs || blobs[attachment.name] == nil else { continue }
            stubs.append(
                MobileStub(
                    attachment.name, digest: digest, contentType: attachment.contentType, length: Int64(content.count),
                    revpos: attachment.revpos))
        }
        body = MobileStub.body(revision.body, listing: stubs)
        (self.properties, self.contents) = (properties, contents)
    }

    private static func content(of attachment: PeerAttachment, of revision: PeerRevision) async throws -> [UInt8] {
        var stored: [UInt8] = []
        let tooLarge = PeerError(
            .tooLarge,
            "the attachment \"\(attachment.name)\" of \"\(revision.id)\" has more than \(largest) bytes, the most that is sent",
            status: 413)
        switch attachment.content {
        case .stub:
            throw PeerError(
                .attachmentMissing, "the content of \"\(attachment.name)\" of \"\(revision.id)\" did not come")
        case .bytes(let bytes): stored = bytes
        case .source(let source):
            guard attachment.encodedLength <= largest else { throw tooLarge }
            try await source.read(from: 0) { stored += $0 }
        }
        guard stored.count <= largest else { throw tooLarge }
        guard attachment.encoding == .gzip else { return stored }
        guard let content = try Gzip.expand(stored, limit: largest) else { throw tooLarge }
        return content
    }
}
