internal import SettlePlatform

/// The name of a stored content: its SHA-256.
public struct BlobDigest: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Creates a digest from its 32 bytes, or returns `nil` for another number.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses 64 hex digits, or returns `nil`.
    public init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text) else { return nil }
        self.init(bytes)
    }

    /// Orders by the bytes.
    public static func < (left: BlobDigest, right: BlobDigest) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// The digest in 64 lower-case hex digits.
    public var description: String { Hexadecimal.encode(bytes) }
}
