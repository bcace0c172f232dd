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
