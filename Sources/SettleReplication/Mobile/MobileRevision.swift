internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettleMobile

/// A message `rev` of a server: a revision, its history, and its blobs and attachments by their digests.
struct MobileRevision {
    private let message: BLIPMessage

    init(_ message: BLIPMessage) { self.message = message }

    /// The answer to a request for the revision, with the contents of its blobs.
    ///
    /// - Throws: ``PeerError`` if a content can't be fetched; `JSONError`, ``WireFault`` or ``RevisionTreeError`` for a
    ///   message that is no revision.
    func answer(_ request: RevisionRequest, _ connection: MobileConnection) async throws -> RevisionAnswer {
        let text = message.body.isEmpty ? Array("{}".utf8) : message.body
        let document = try text.withUnsafeBufferPointer { try DocumentReader.read($0, allowsReserved: true) }
        let reserved = Dictionary(document.reserved.map { ($0.name, $0.value) }) { $1 }
        func says(_ name: String) -> Bool { reserved[name]?.elementsEqual("true".utf8) ?? false }
        guard !says("_removed") else { return .missing(reason: "it was removed from the user's channels") }
        let ancestors = message.properties["history"] ?? ""
        guard let history = RevisionHistory(request.revision.description, history: ancestors) else {
            throw WireFault("the history of \(request.revision) does not count down by one")
        }
        let listed = try reserved["_attachments"].map { try JSONValue(utf8: $0).object ?? [:] } ?? [:]
        var attachments: [PeerAttachment] = []
        for blob in MobileBlob.all(in: document.body) {
            attachments.append(
                try await fetch(blob.attachmentName, blob.contentType, blob.digest, history.start, connection))
        }
        // Blobs may be listed, too; their members say what they are.
        for (name, value) in listed.map({ ($0.name, $0.value) }) where !name.hasPrefix(MobileBlob.prefix) {
            guard let digest = value["digest"]?.string else {
                throw WireFault("the attachment \"\(name)\" has no digest")
            }
            let type = value["content_type"]?.string ?? "application/octet-stream"
            let revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? history.start
            attachments.append(try await fetch(name, type, digest, revpos, connection))
        }
        return .found(
            PeerRevision(
                id: request.id, history: history, isDeleted: message.flag("deleted") || says("_deleted"),
                isDeletionAtSource: request.isDeletionAtSource, body: document.body, attachments: attachments))
    }

    private func fetch(
        _ name: String, _ type: String, _ digest: String, _ revpos: UInt64, _ connection: MobileConnection
    ) async throws -> PeerAttachment {
        let properties = ["digest": digest, "docID": message.properties["id"] ?? ""]
        let content = try await connection.ask("getAttachment", properties).body
        guard MobileDigest.of(content) == digest else {
            throw PeerError(.attachmentMissing, "the content of \"\(name)\" is not what its digest \(digest) says")
        }
        let md5 = MD5()
        md5.update(content)
        guard let stored = AttachmentDigest(md5: md5.finish()) else { throw WireFault("\"\(name)\" has no digest") }
        let length = Int64(content.count)
        return PeerAttachment(
            name: name, contentType: type, revpos: revpos, digest: stored, length: length, encodedLength: length,
            encoding: .identity, content: .bytes(content))
    }
}
