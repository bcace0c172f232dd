internal import CCrypto
internal import SettleDatabase
internal import SettlePlatform

/// Bytes that can be read or changed only with the key: AES-256-GCM by libcrypto, with a random nonce.
///
///     mark (8 bytes) · nonce (12) · ciphertext · tag (16)
struct SealedBytes: Sendable {
    /// How many bytes a key has.
    static let keyLength = 32
    private static let mark = Array("settle\u{0}1".utf8)
    private static let nonceLength = 12
    private static let tagLength = 16

    /// Why bytes can't be opened or sealed.
    enum Fault: Error {
        case wrongKeyLength
        case cannotOpen
        case failed
    }

    /// The bytes as they are stored.
    let bytes: [UInt8]

    /// Takes bytes that were sealed before.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Seals bytes.
    init(sealing plain: [UInt8], key: [UInt8]) throws(Fault) {
        guard key.count == Self.keyLength else { throw .wrongKeyLength }
        let nonce = SecureRandom.bytes(Self.nonceLength)
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var (cipher, tag) = (
            [UInt8](repeating: 0, count: plain.count + 16), [UInt8](repeating: 0, count: Self.tagLength)
        )
        var (length, last, ignored): (Int32, Int32, Int32) = (0, 0, 0)
        guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(context, nil, &ignored, Self.mark, Int32(Self.mark.count)) == 1,
            EVP_EncryptUpdate(context, &cipher, &length, plain, Int32(clamping: plain.count)) == 1,
            EVP_EncryptFinal_ex(context, &tag, &last) == 1, last == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), &tag) == 1
        else { throw .failed }
        bytes = Self.mark + nonce + cipher.prefix(Int(length)) + tag
    }

    /// Opens the bytes.
    func opened(key: [UInt8]) throws(Fault) -> [UInt8] {
        guard key.count == Self.keyLength else { throw .wrongKeyLength }
        let head = Self.mark.count + Self.nonceLength
        guard bytes.count >= head + Self.tagLength, bytes.starts(with: Self.mark) else { throw .cannotOpen }
        let nonce = Array(bytes[Self.mark.count..<head])
        let cipher = Array(bytes[head..<(bytes.count - Self.tagLength)])
        var tag = Array(bytes.suffix(Self.tagLength))
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var (plain, rest) = ([UInt8](repeating: 0, count: cipher.count + 16), [UInt8](repeating: 0, count: 16))
        var (length, last, ignored): (Int32, Int32, Int32) = (0, 0, 0)
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(context, nil, &ignored, Self.mark, Int32(Self.mark.count)) == 1,
            EVP_DecryptUpdate(context, &plain, &length, cipher, Int32(clamping: cipher.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &tag) == 1,
            EVP_DecryptFinal_ex(context, &rest, &last) == 1
        else { throw .cannotOpen }
        return Array(plain.prefix(Int(length)))
    }
}
