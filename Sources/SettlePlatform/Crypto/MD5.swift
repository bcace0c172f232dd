#if canImport(CommonCrypto)
internal import CommonCrypto
#else
internal import CCrypto
#endif

/// An MD5 of bytes given piece by piece, for revision ids and attachment digests: CouchDB's choice, not a protection.
///
/// One object serves any number of digests, one after the other.
package final class MD5 {
    #if canImport(CommonCrypto)
    private var context = CC_MD5_CTX()
    #else
    private var context = MD5_CTX()
    #endif

    package init() { restart() }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        #if canImport(CommonCrypto)
        CC_MD5_Update(&context, bytes.baseAddress, CC_LONG(bytes.count))
        #else
        MD5_Update(&context, bytes.baseAddress, bytes.count)
        #endif
    }

    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes(update) }

    /// The digest of all since the last one, as two big-endian words; the next update begins anew.
    package func finishWords() -> (high: UInt64, low: UInt64) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { buffer in
            let digest = buffer.bindMemory(to: UInt8.self).baseAddress
            #if canImport(CommonCrypto)
            CC_MD5_Final(digest, &context)
            #else
            MD5_Final(digest, &context)
            #endif
        }
        restart()
        return (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
    }

    /// The 16 bytes of the digest of all since the last one; the next update begins anew.
    package func finish() -> [UInt8] {
        let words = finishWords()
        return withUnsafeBytes(of: (words.high.bigEndian, words.low.bigEndian)) { Array($0) }
    }

    private func restart() {
        #if canImport(CommonCrypto)
        CC_MD5_Init(&context)
        #else
        MD5_Init(&context)
        #endif
    }
}
