/// A stored content in a storage engine.
public struct BlobRecord: Sendable, Hashable {
    /// The content's name.
    public let digest: BlobDigest
    /// The MD5 of the bytes, the digest of attachments.
    public let md5: [UInt8]
    /// How many bytes it has.
    public let length: Int64
    /// The bytes, or `nil` if they are not in the row or were not requested.
    public let content: [UInt8]?
    /// Whether the bytes are not in the row: they are in a file, or wherever the ``BlobStorage`` of the engine has them.
    public let isFile: Bool
    /// Where a ``BlobStorage`` has the bytes, in its own words; `nil` for bytes in the row or in a file named by the digest.
    public let place: [UInt8]?

    /// Creates a record.
    public init(
        digest: BlobDigest, md5: [UInt8], length: Int64, content: [UInt8]?, isFile: Bool, place: [UInt8]? = nil
    ) {
        self.digest = digest
        self.md5 = md5
        self.length = length
        self.content = content
        self.isFile = isFile
        self.place = place
    }
}
