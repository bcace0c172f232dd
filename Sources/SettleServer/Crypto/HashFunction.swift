internal import CCrypto

/// A hash function of libcrypto, and what is made of it; the raw value is CouchDB's name for it.
enum HashFunction: String, Sendable, CaseIterable {
    case sha1 = "sha"
    case sha224
    case sha256
    case sha384
    case sha512

    /// The hash of bytes.
    func hash(_ bytes: [UInt8]) -> [UInt8] {
        output { buffer in EVP_Digest(bytes, bytes.count, buffer, nil, function, nil) == 1 }
    }

    /// The HMAC of a message.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        output { buffer in
            HMAC(function, key, Int32(clamping: key.count), message, message.count, buffer, nil) != nil
        }
    }

    /// A key derived from a password; slow on purpose, so ask for it through a ``PasswordHasher``.
    func derive(password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        output { buffer in
            password.withUnsafeBytes { password in
                PKCS5_PBKDF2_HMAC(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: password.count), salt,
                    Int32(clamping: salt.count), Int32(clamping: iterations), function, Int32(length), buffer) == 1
            }
        }
    }

    /// How many bytes a hash has.
    var length: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// libcrypto's own description of the function.
    var function: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha224: EVP_sha224()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }

    /// What a closure fills in; nothing, which equals no hash, when it says that it failed.
    private func output(_ body: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = body(buffer.baseAddress) ? length : 0
        }
    }
}
