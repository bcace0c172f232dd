internal import CCrypto
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Verifies signed tokens (JWT).
struct SignedToken: Sendable {
    let options: TokenOptions

    /// The user that a token authenticates.
    ///
    /// - Throws: ``HTTPError`` with CouchDB's reason if the token is invalid.
    func user(_ token: some StringProtocol, now: Int = SessionCookie.now) throws -> User {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw HTTPError.badRequest("Malformed authentication token") }
        let header = try object(parts[0])
        guard let algorithm = header["alg"] else { throw HTTPError.badRequest("Missing alg header parameter") }
        guard let algorithm = TokenAlgorithm(rawValue: algorithm.string ?? "") else {
            throw HTTPError.badRequest("Invalid alg header parameter")
        }
        let claims = try object(parts[1])
        // The signature is verified first; unsigned content is not parsed.
        guard let signature = Base64.decodeFromURL(parts[2]) else {
            throw HTTPError.badRequest("Malformed authentication token")
        }
        try verify(signature, Array("\(parts[0]).\(parts[1])".utf8), algorithm, header)
        try check(claims, now)
        guard let name = claims["sub"]?.string, !name.isEmpty else {
            throw HTTPError.unauthorized("Token missing sub claim.")
        }
        return User(
            name: name, roles: try roles(claims), handler: "jwt", proof: .token(end: claims["exp"]?.double))
    }

    private func verify(
        _ signature: [UInt8], _ message: [UInt8], _ algorithm: TokenAlgorithm, _ header: JSONObject
    ) throws {
        let id = try header["kid"].map { value in
            guard let text = value.string else { throw HTTPError.badRequest("Unknown kid") }
            return text
        }
        let named = options.keys.filter { $0.id == id ?? "_default" }
        // The kind of the algorithm selects the keys, so a public key is never used as an HMAC's secret.
        for key in named {
            switch (key.material, algorithm.kind) {
            case (.secret(let secret), nil):
                guard Secrets.areEqual(algorithm.hash.code(of: message, key: secret), signature) else {
                    throw HTTPError.badRequest("Bad HMAC in authentication token")
                }
                return
            case (.key(let key), .some(let kind)) where key.kind == kind:
                guard kind == .rsa || key.bits == algorithm.curveBits,
                    key.verify(signature, of: message, algorithm.hash)
                else { throw HTTPError.badRequest("Bad signature in authentication token") }
                return
            default: continue
            }
        }
        throw HTTPError.badRequest("Unknown kid")
    }

    private func check(_ claims: JSONObject, _ now: Int) throws {
        for name in options.requiredClaims.sorted() where claims[name] == nil {
            throw HTTPError.badRequest("Missing \(name) claim")
        }
        for name in ["exp", "nbf", "iat"] {
            guard let value = claims[name] else { continue }
            guard let time = value.double else { throw HTTPError.badRequest("Invalid \(name) claim") }
            if name == "exp", time <= Double(now) { throw HTTPError.unauthorized("exp not in future") }
            if name == "nbf", time > Double(now) { throw HTTPError.unauthorized("nbf not in past") }
        }
        if let issuer = options.issuer {
            guard let given = claims["iss"] else { throw HTTPError.badRequest("Missing iss claim") }
            guard given == .string(issuer) else { throw HTTPError.badRequest("Invalid iss claim") }
        }
        if let audience = options.audience {
            let given = claims["aud"].map { $0.array ?? [$0] } ?? []
            guard given.contains(.string(audience)) else { throw HTTPError.badRequest("Invalid aud claim") }
        }
    }

    private func roles(_ claims: JSONObject) throws -> [String] {
        var value: JSONValue? = .object(claims)
        for name in options.rolesPath { value = value?.object?[name] }
        switch value {
        case nil: return []
        case .string(let text): return text.split(separator: ",").map { String($0).trimmingBlanks() }
        case .array(let list):
            return try list.map { item in
                guard let role = item.string else { throw HTTPError.badRequest("Malformed token") }
                return role
            }
        default: throw HTTPError.badRequest("Malformed token")
        }
    }

    private func object(_ part: some StringProtocol) throws -> JSONObject {
        guard let bytes = Base64.decodeFromURL(part), let json = try? JSONValue(utf8: bytes) else {
            throw HTTPError.badRequest("Malformed authentication token")
        }
        guard let object = json.object else { throw HTTPError.badRequest("Not an object") }
        return object
    }
}

/// The accepted algorithms of signed tokens; `none` is not among them.
enum TokenAlgorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"

    var hash: HashFunction {
        switch self {
        case .hs256, .rs256, .es256: .sha256
        case .hs384, .rs384, .es384: .sha384
        case .hs512, .rs512, .es512: .sha512
        }
    }

    /// The kind of key that the algorithm needs; `nil` for a shared secret.
    var kind: PublicKey.Kind? {
        switch self {
        case .hs256, .hs384, .hs512: nil
        case .rs256, .rs384, .rs512: .rsa
        case .es256, .es384, .es512: .elliptic
        }
    }

    /// The bits of its key's curve.
    var curveBits: Int? {
        switch self {
        case .es256: 256
        case .es384: 384
        case .es512: 521
        default: nil
        }
    }
}

// MARK: - PublicKey

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
    /// The number of the key's bits; for an elliptic key, of its curve.
    let bits: Int

    /// Reads a key; `nil` for invalid input, or for a key that is too weak.
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

    /// Verifies a message's signature. The signature by an elliptic key is two concatenated numbers, as in tokens.
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
