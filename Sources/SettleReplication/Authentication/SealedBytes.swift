internal import SettleDatabase
internal import SettlePlatform

/// Bytes that can be read or changed only with the key: AES-256-GCM with a random nonce.
///
///     mark (8 bytes) · nonce (12) · ciphertext · tag (16)
package struct SealedBytes: Sendable {
    /// How many bytes a key has.
    package static let keyLength = 32
    private static let mark = Array("settle\u{0}1".utf8)
    private static let nonceLength = 12
    private static let tagLength = 16

    /// Why bytes can't be opened or sealed.
    package enum Fault: Error {
        case wrongKeyLength
        case cannotOpen
        case failed
    }

    /// The bytes as they are stored.
    package let bytes: [UInt8]

    /// Takes bytes that were sealed before.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Seals bytes.
    package init(sealing plain: [UInt8], key: [UInt8]) throws(Fault) {
        guard key.count == Self.keyLength else { throw .wrongKeyLength }
        let nonce = SecureRandom.bytes(Self.nonceLength)
        guard let sealed = SealingCipher.seal(plain, mark: Self.mark, key: key, nonce: nonce) else { throw .failed }
        bytes = Self.mark + nonce + sealed.cipher + sealed.tag
    }

    /// Opens the bytes.
    package func opened(key: [UInt8]) throws(Fault) -> [UInt8] {
        guard key.count == Self.keyLength else { throw .wrongKeyLength }
        let head = Self.mark.count + Self.nonceLength
        guard bytes.count >= head + Self.tagLength, bytes.starts(with: Self.mark) else { throw .cannotOpen }
        let nonce = Array(bytes[Self.mark.count..<head])
        let cipher = Array(bytes[head..<(bytes.count - Self.tagLength)])
        let tag = Array(bytes.suffix(Self.tagLength))
        let plain = SealingCipher.open(cipher, tag: tag, mark: Self.mark, key: key, nonce: nonce)
        guard let plain else { throw .cannotOpen }
        return plain
    }
}
