/// The name of a stored content: its SHA-256.
public struct BlobDigest: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Makes a digest of its 32 bytes, or returns `nil` for another number.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Makes a digest of 64 hex digits, or returns `nil`.
    public init?(hexadecimal text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    /// Orders by the bytes.
    public static func < (left: BlobDigest, right: BlobDigest) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// The digest in 64 lower-case hex digits.
    public var description: String {
        bytes.reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}
