/// Which signed tokens (JWT) are taken as credentials: `Authorization: Bearer …`.
public struct TokenOptions: Sendable {
    /// The keys, one of which a token names by its kind and its member `kid`.
    public var keys: [TokenKey]
    /// Claims that must be there: of `exp`, `nbf`, `iat`, `sub`; `exp` unless set. Those of time hold whenever they are.
    public var requiredClaims: Set<String> = ["exp"]
    /// The issuer a token must have; any unless set.
    public var issuer: String?
    /// The audience a token must be for; any unless set.
    public var audience: String?
    /// The claim with the roles, by its path; `_couchdb.roles` as one name unless set.
    public var rolesPath = ["_couchdb.roles"]

    /// Makes options with keys.
    public init(keys: [TokenKey]) { self.keys = keys }
}

/// A key for signed tokens.
///
/// It has one kind, and a token with an algorithm of another kind can't use it: a public key is never taken for a shared
/// secret.
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
    ///   - id: The key's name, which tokens give as `kid`; `_default` for tokens without.
    ///   - secret: The secret.
    public init?(id: String = "_default", secret: [UInt8]) {
        guard !secret.isEmpty else { return nil }
        self.id = id
        material = .secret(secret)
    }

    /// A public key in PEM, for RS256, RS384 and RS512, or for ES256, ES384 or ES512 after its curve; `nil` for what is
    /// none, of another kind, or an RSA key of fewer than 2,048 bits.
    ///
    /// - Parameters:
    ///   - id: The key's name, which tokens give as `kid`; `_default` for tokens without.
    ///   - pem: The key.
    public init?(id: String = "_default", pem: String) {
        guard let key = PublicKey(pem: pem) else { return nil }
        self.id = id
        material = .key(key)
    }
}
