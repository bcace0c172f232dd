internal import SettleCrypto
internal import SettleDatabase
internal import SettleMobile

/// The contents of blobs and attachments that the server may ask for while the revisions with them are on their way.
struct MobileUploads {
    private var contents: [String: (bytes: [UInt8], users: Int)] = [:]

    /// Has contents ready, by their digests.
    mutating func add(_ given: [String: [UInt8]]) {
        for (digest, bytes) in given { contents[digest] = (bytes, (contents[digest]?.users ?? 0) + 1) }
    }

    /// One revision with each of these contents has arrived.
    mutating func remove(_ digests: some Collection<String>) {
        for digest in digests {
            guard let entry = contents[digest] else { continue }
            contents[digest] = entry.users > 1 ? (entry.bytes, entry.users - 1) : nil
        }
    }

    /// Answers `getAttachment` with the content, and `proveAttachment` with the proof of having it:
    /// the SHA-1 of the nonce's length, the nonce and the content.
    func answer(_ message: BLIPMessage) -> BLIPMessage {
        guard let content = contents[message.properties["digest"] ?? ""]?.bytes else {
            return .failure(.http(404, "no revision on its way has this content"))
        }
        guard message.profile == "proveAttachment" else { return BLIPMessage(.reply, body: content) }
        guard let length = UInt8(exactly: message.body.count), length > 0 else {
            return .failure(.http(400, "the nonce must have 1 to 255 bytes"))
        }
        return BLIPMessage(.reply, body: Array(MobileDigest.of([length] + message.body + content).utf8))
    }
}
