#if canImport(CommonCrypto)
internal import CommonCrypto
#else
internal import CCrypto
#endif

/// A hash function of bytes at hand, and the codes and keys made with it; the raw value is CouchDB's name for it.
///
/// Where bytes come piece by piece, ``SHA256`` and ``MD5`` take them.
package enum HashFunction: String, Sendable, CaseIterable {
    case sha1 = "sha"
    case sha224
    case sha256
    case sha384
    case sha512

    /// The number of bytes of a hash.
    package var length: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The hash of bytes.
    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        output { buffer in
            #if canImport(CommonCrypto)
            switch self {
            case .sha1: CC_SHA1(bytes, CC_LONG(bytes.count), buffer)
            case .sha224: CC_SHA224(bytes, CC_LONG(bytes.count), buffer)
            case .sha256: CC_SHA256(bytes, CC_LONG(bytes.count), buffer)
            case .sha384: CC_SHA384(bytes, CC_LONG(bytes.count), buffer)
            case .sha512: CC_SHA512(bytes, CC_LONG(bytes.count), buffer)
            }
            return true
            #else
            return EVP_Digest(bytes, bytes.count, buffer, nil, function, nil) == 1
            #endif
        }
    }

    /// The HMAC of a message.
    package func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        output { buffer in
            #if canImport(CommonCrypto)
            CCHmac(function.code, key, key.count, message, message.count, buffer)
            return true
            #else
            return HMAC(function, key, Int32(clamping: key.count), message, message.count, buffer, nil) != nil
            #endif
        }
    }

    /// A key derived from a password by PBKDF2. The call is slow on purpose: it takes time in proportion to `iterations`.
    package func derive(password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        output { buffer in
            password.withUnsafeBytes { password in
                let text = password.baseAddress?.assumingMemoryBound(to: CChar.self)
                #if canImport(CommonCrypto)
                return CCKeyDerivationPBKDF(
                    CCPBKDFAlgorithm(kCCPBKDF2), text, password.count, salt, salt.count, function.key,
                    UInt32(clamping: iterations), buffer, length) == kCCSuccess
                #else
                return PKCS5_PBKDF2_HMAC(
                    text, Int32(clamping: password.count), salt, Int32(clamping: salt.count),
                    Int32(clamping: iterations), function, Int32(length), buffer) == 1
                #endif
            }
        }
    }

    #if canImport(CommonCrypto)
    private var function: (code: CCHmacAlgorithm, key: CCPseudoRandomAlgorithm) {
        switch self {
        case .sha1: (CCHmacAlgorithm(kCCHmacAlgSHA1), CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA1))
        case .sha224: (CCHmacAlgorithm(kCCHmacAlgSHA224), CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA224))
        case .sha256: (CCHmacAlgorithm(kCCHmacAlgSHA256), CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256))
        case .sha384: (CCHmacAlgorithm(kCCHmacAlgSHA384), CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA384))
        case .sha512: (CCHmacAlgorithm(kCCHmacAlgSHA512), CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA512))
        }
    }
    #else
    private var function: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha224: EVP_sha224()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }
    #endif

    /// The bytes a closure fills in. There are none, which equals no hash, when it says that it failed.
    private func output(_ body: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = body(buffer.baseAddress) ? length : 0
        }
    }
}
