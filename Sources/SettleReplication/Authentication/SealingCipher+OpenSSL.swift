#if canImport(CCrypto) && !canImport(CryptoKit)
internal import CCrypto

/// AES-256-GCM by libcrypto.
enum SealingCipher {
    private static let tagLength: Int32 = 16

    /// Encrypts bytes; the tag covers the mark as well. `nil` if libcrypto fails.
    static func seal(
        _ plain: [UInt8], mark: [UInt8], key: [UInt8], nonce: [UInt8]
    ) -> (cipher: [UInt8], tag: [UInt8])? {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var cipher = [UInt8](repeating: 0, count: plain.count + 16)
        var tag = [UInt8](repeating: 0, count: Int(tagLength))
        var (length, last, ignored): (Int32, Int32, Int32) = (0, 0, 0)
        guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(context, nil, &ignored, mark, Int32(clamping: mark.count)) == 1,
            EVP_EncryptUpdate(context, &cipher, &length, plain, Int32(clamping: plain.count)) == 1,
            EVP_EncryptFinal_ex(context, &tag, &last) == 1, last == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tagLength, &tag) == 1
        else { return nil }
        return (Array(cipher.prefix(Int(length))), tag)
    }

    /// Decrypts bytes; `nil` if the key is wrong, or if the bytes, the tag or the mark were changed.
    static func open(_ cipher: [UInt8], tag: [UInt8], mark: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        var tag = tag
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var (plain, rest) = ([UInt8](repeating: 0, count: cipher.count + 16), [UInt8](repeating: 0, count: 16))
        var (length, last, ignored): (Int32, Int32, Int32) = (0, 0, 0)
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(context, nil, &ignored, mark, Int32(clamping: mark.count)) == 1,
            EVP_DecryptUpdate(context, &plain, &length, cipher, Int32(clamping: cipher.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tagLength, &tag) == 1,
            EVP_DecryptFinal_ex(context, &rest, &last) == 1
        else { return nil }
        return Array(plain.prefix(Int(length)))
    }
}
#endif
