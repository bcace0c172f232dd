/// Names that a proxy in front of the server vouches for, by three headers.
///
/// There is always a secret: the proxy proves each name with its HMAC, in hexadecimal digits.
public struct ProxyOptions: Sendable {
    /// The secret the proxy knows as well.
    public var secret: String
    /// The header with the name; `X-Auth-CouchDB-UserName` unless set.
    public var nameHeader = "X-Auth-CouchDB-UserName"
    /// The header with the roles, separated by commas; `X-Auth-CouchDB-Roles` unless set.
    public var rolesHeader = "X-Auth-CouchDB-Roles"
    /// The header with the HMAC of the name; `X-Auth-CouchDB-Token` unless set.
    public var tokenHeader = "X-Auth-CouchDB-Token"

    /// Makes options with a secret; `nil` for an empty one.
    public init?(secret: String) {
        guard !secret.isEmpty else { return nil }
        self.secret = secret
    }
}
