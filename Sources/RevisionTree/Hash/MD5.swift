#if canImport(CommonCrypto)
internal import CommonCrypto
#else
internal import CCrypto
#endif

/// An MD5 of bytes given piece by piece, for revision ids and attachment digests: CouchDB's choice, not a protection.
///
/// One object serves any number of digests, one after the other; making its context is what costs.
package final class MD5 {
    #if canImport(CommonCrypto)
    private var context = CC_MD5_CTX()

    package init() { CC_MD5_Init(&context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        CC_MD5_Update(&context, bytes.baseAddress, CC_LONG(bytes.count))
    }

    /// The digest of all since the last one; the next update begins anew.
    package func finish() -> [UInt8] {
        let digest = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            CC_MD5_Final(buffer.baseAddress, &context)
            count = 16
        }
        CC_MD5_Init(&context)
        return digest
    }
    #else
    private let context = EVP_MD_CTX_new()

    package init() { restart() }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all since the last one; the next update begins anew.
    package func finish() -> [UInt8] {
        let digest = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = 16
        }
        restart()
        return digest
    }

    private func restart() { EVP_DigestInit_ex(context, Algorithm.md5.pointer, nil) }

    /// The algorithm, fetched from the library once.
    ///
    /// Unchecked: no lock is needed, a fetched algorithm is immutable.
    private struct Algorithm: @unchecked Sendable {
        let pointer: OpaquePointer?
        static let md5 = Algorithm(pointer: EVP_MD_fetch(nil, "MD5", nil) ?? EVP_md5())
    }
    #endif

    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes(update) }
}
