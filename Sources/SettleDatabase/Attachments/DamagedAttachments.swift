/// Why a packed list of attachments can't be read, and the contents that it still names.
struct DamagedAttachments: Error, CustomStringConvertible {
    /// The problem and its place.
    let description: String
    /// Everything in the list that looks like a content's digest, so that none of them is collected.
    let blobs: Set<BlobDigest>

    init(_ description: String, in bytes: [UInt8]) {
        self.description = description
        let words = bytes.split { !Self.digits.contains($0) }.filter { $0.count == 64 }
        blobs = Set(words.compactMap { BlobDigest(hexadecimal: String(decoding: $0, as: UTF8.self)) })
    }

    private static let digits = Set("0123456789abcdef".utf8)
}

extension DatabaseError {
    /// The contents that a damaged list of attachments names.
    var namedBlobs: Set<BlobDigest> {
        (cause as? DamagedAttachments)?.blobs ?? (cause as? DatabaseError)?.namedBlobs ?? []
    }
}
