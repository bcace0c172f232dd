internal import CCrypto
internal import SettlePlatform

/// A public key in PEM that verifies signatures.
///
/// It stores the text and parses it for each signature, which is cheap compared with the verification.
struct PublicKey: Sendable {
    enum Kind: Sendable {
        case rsa
        case elliptic
    }

    private let pem: [UInt8]
    let kind: Kind
    /// The key's bits; for an elliptic key, those of its curve.
    let bits: Int

    /// Reads a key; `nil` for invalid input, or a key that is too weak.
    init?(pem text: String) {
        pem = Array(text.utf8)
        guard let key = Self.read(pem) else { return nil }
        defer { EVP_PKEY_free(key) }
        bits = Int(EVP_PKEY_get_bits(key))
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            guard bits >= 2048 else { return nil }
            kind = .rsa
        case EVP_PKEY_EC: kind = .elliptic
        default: return nil
        }
    }

    /// Verifies a message's signature; an elliptic one is two concatenated numbers, as in tokens.
    func verify(_ signature: [UInt8], of message: [UInt8], _ hash: HashFunction) -> Bool {
        guard let key = Self.read(pem), let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
        }
        var signature = signature
        if kind == .elliptic {
            guard signature.count == 2 * ((bits + 7) / 8) else { return false }
            signature = Self.sequence(signature)
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_get_digestbyname(hash.name), nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    private static func read(_ pem: [UInt8]) -> OpaquePointer? {
        guard let source = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
        defer { BIO_free(source) }
        return PEM_read_bio_PUBKEY(source, nil, nil, nil)
    }

    /// Encodes two concatenated numbers as an ASN.1 sequence of two integers.
    private static func sequence(_ numbers: [UInt8]) -> [UInt8] {
        let half = numbers.count / 2
        let content = integer(numbers.prefix(half)) + integer(numbers.suffix(half))
        return [0x30] + (content.count < 128 ? [] : [0x81]) + [UInt8(content.count)] + content
    }

    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(number.drop { $0 == 0 })
        if (digits.first ?? 0x80) & 0x80 != 0 { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}

extension HashFunction {
    /// The function's name in libcrypto.
    fileprivate var name: String { self == .sha1 ? "SHA1" : rawValue.uppercased() }
}
