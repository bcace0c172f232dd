#if canImport(CommonCrypto)
internal import CommonCrypto
#else
internal import CCrypto
#endif

/// A SHA-256 of bytes given piece by piece.
package final class SHA256 {
    #if canImport(CommonCrypto)
    private var context = CC_SHA256_CTX()

    package init() { CC_SHA256_Init(&context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        CC_SHA256_Update(&context, bytes.baseAddress, CC_LONG(bytes.count))
    }

    /// The digest of all that was given; the object is used up.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            CC_SHA256_Final(buffer.baseAddress, &context)
            count = 32
        }
    }
    #else
    private let context = EVP_MD_CTX_new()

    package init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    /// The digest of all that was given; the object is used up.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = 32
        }
    }
    #endif
}
