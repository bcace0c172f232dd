#if canImport(CommonCrypto)
internal import CommonCrypto

/// Digests by CommonCrypto.
enum CommonCryptoDigests {
    /// MD5 by CommonCrypto, which has deprecated it. Call it through `RunningDigest`.
    struct MD5State: DigestState {
        static var length: Int { Int(CC_MD5_DIGEST_LENGTH) }
        private var context = CC_MD5_CTX()

        @available(*, deprecated) init() { CC_MD5_Init(&context) }

        @available(*, deprecated) mutating func update(_ bytes: UnsafeRawBufferPointer) {
            for piece in pieces(of: bytes) { CC_MD5_Update(&context, piece.baseAddress, CC_LONG(piece.count)) }
        }

        @available(*, deprecated) mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
            CC_MD5_Final(digest, &context)
        }
    }

    /// SHA-1 by CommonCrypto.
    struct SHA1State: DigestState {
        static var length: Int { Int(CC_SHA1_DIGEST_LENGTH) }
        private var context = CC_SHA1_CTX()

        init() { CC_SHA1_Init(&context) }

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            for piece in pieces(of: bytes) { CC_SHA1_Update(&context, piece.baseAddress, CC_LONG(piece.count)) }
        }

        mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { CC_SHA1_Final(digest, &context) }
    }

    /// SHA-256 by CommonCrypto.
    struct SHA256State: DigestState {
        static var length: Int { Int(CC_SHA256_DIGEST_LENGTH) }
        private var context = CC_SHA256_CTX()

        init() { CC_SHA256_Init(&context) }

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            for piece in pieces(of: bytes) { CC_SHA256_Update(&context, piece.baseAddress, CC_LONG(piece.count)) }
        }

        mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { CC_SHA256_Final(digest, &context) }
    }
}

/// Divides bytes into pieces whose length one call accepts; one piece in practice.
private func pieces(of bytes: UnsafeRawBufferPointer) -> some Sequence<UnsafeRawBufferPointer> {
    stride(from: 0, to: bytes.count, by: 1 << 30).lazy.map { start in
        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 1 << 30, bytes.count)])
    }
}
#endif
