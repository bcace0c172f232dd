/// Signed tokens (JWT) accepted as credentials: `Authorization: Bearer …`.
public struct TokenOptions: Sendable {
    /// The keys, which tokens select by algorithm and `kid`.
    public var keys: [TokenKey]
    /// Required claims, of `exp`, `nbf`, `iat`, `sub`; `exp` by default. Claims of time are checked whenever present.
    public var requiredClaims: Set<String> = ["exp"]
    /// The required issuer; any by default.
    public var issuer: String?
    /// The required audience; any by default.
    public var audience: String?
    /// The path of the claim with the roles; by default `_couchdb.roles` as a single name.
    public var rolesPath = ["_couchdb.roles"]

    /// Makes options with keys.
    public init(keys: [TokenKey]) { self.keys = keys }
}

/// A key for signed tokens.
///
/// It has one kind, and an algorithm of another kind can't use it, so a public key is never used as a shared secret.
public struct TokenKey: Sendable {
    enum Material: Sendable {
        case secret([UInt8])
        case key(PublicKey)
    }

    let id: String
    let material: Material

    /// A shared secret, for the algorithms HS256, HS384 and HS512; `nil` for an empty one.
    ///
    /// - Parameters:
    ///   - id: The key's name, the `kid` of tokens; `_default` for tokens without.
    ///   - secret: The secret.
    public init?(id: String = "_default", secret: [UInt8]) {
        guard !secret.isEmpty else { return nil }
        self.id = id
        material = .secret(secret)
    }

    /// A public key in PEM, for RS256, RS384 and RS512, or for ES256, ES384 or ES512 by its curve; `nil` for invalid
    /// input, another kind, or an RSA key of fewer than 2,048 bits.
    ///
    /// - Parameters:
    ///   - id: The key's name, the `kid` of tokens; `_default` for tokens without.
    ///   - pem: The key.
    public init?(id: String = "_default", pem: String) {
        guard let key = PublicKey(pem: pem) else { return nil }
        self.id = id
        material = .key(key)
    }
}
