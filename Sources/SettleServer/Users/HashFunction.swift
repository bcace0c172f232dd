internal import CCrypto

/// A hash function for passwords and signatures, and its HMACs and keys, by libcrypto. The raw value is CouchDB's
/// name for it.
enum HashFunction: String, Sendable, CaseIterable {
    case sha1 = "sha"
    case sha224
    case sha256
    case sha384
    case sha512

    /// The number of bytes of a hash.
    var length: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The hash of bytes.
    func hash(_ bytes: [UInt8]) -> [UInt8] {
        output { EVP_Digest(bytes, bytes.count, $0, nil, function, nil) == 1 }
    }

    /// The HMAC of a message.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        output { HMAC(function, key, Int32(clamping: key.count), message, message.count, $0, nil) != nil }
    }

    /// Derives a key from a password by PBKDF2. This is slow on purpose: the time is proportional to `iterations`.
    func derive(password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        output { buffer in
            password.withUnsafeBytes { password in
                let text = password.baseAddress?.assumingMemoryBound(to: CChar.self)
                return PKCS5_PBKDF2_HMAC(
                    text, Int32(clamping: password.count), salt, Int32(clamping: salt.count),
                    Int32(clamping: iterations), function, Int32(length), buffer) == 1
            }
        }
    }

    private var function: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha224: EVP_sha224()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }

    /// The bytes that a closure writes; empty if it fails, which equals no hash.
    private func output(_ body: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = body(buffer.baseAddress) ? length : 0
        }
    }
}

// MARK: - Secrets

/// Operations on secrets.
enum Secrets {
    /// Whether two byte sequences are equal and not empty. The time depends only on their length.
    static func areEqual(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        return left.count == right.count && !left.isEmpty && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
