/// A stored content as an engine keeps it.
public struct BlobRecord: Sendable, Hashable {
    /// The content's name.
    public let digest: BlobDigest
    /// The MD5 of the bytes, which attachments name it by.
    public let md5: [UInt8]
    /// How many bytes it has.
    public let length: Int64
    /// The bytes, or `nil` when they are in a file of their own or were not asked for.
    public let content: [UInt8]?
    /// Whether the bytes are in a file of their own.
    public let isFile: Bool

    /// Makes a record.
    public init(digest: BlobDigest, md5: [UInt8], length: Int64, content: [UInt8]?, isFile: Bool) {
        self.digest = digest
        self.md5 = md5
        self.length = length
        self.content = content
        self.isFile = isFile
    }
}
