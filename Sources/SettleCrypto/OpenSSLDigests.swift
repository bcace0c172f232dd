#if canImport(CCrypto)
internal import CCrypto

/// Digests by libcrypto's plain functions. Its EVP functions take twice as long for an MD5 of a few hundred bytes.
enum OpenSSLDigests {
    /// MD5 by libcrypto.
    struct MD5State: DigestState {
        static var length: Int { Int(MD5_DIGEST_LENGTH) }
        private var context = MD5_CTX()

        init() { MD5_Init(&context) }

        mutating func update(_ bytes: UnsafeRawBufferPointer) { MD5_Update(&context, bytes.baseAddress, bytes.count) }

        mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { MD5_Final(digest, &context) }
    }

    /// SHA-1 by libcrypto.
    struct SHA1State: DigestState {
        static var length: Int { Int(SHA_DIGEST_LENGTH) }
        private var context = SHA_CTX()

        init() { SHA1_Init(&context) }

        mutating func update(_ bytes: UnsafeRawBufferPointer) { SHA1_Update(&context, bytes.baseAddress, bytes.count) }

        mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { SHA1_Final(digest, &context) }
    }

    /// SHA-256 by libcrypto.
    struct SHA256State: DigestState {
        static var length: Int { Int(SHA256_DIGEST_LENGTH) }
        private var context = SHA256_CTX()

        init() { SHA256_Init(&context) }

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            SHA256_Update(&context, bytes.baseAddress, bytes.count)
        }

        mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { SHA256_Final(digest, &context) }
    }
}
#endif
