/// Authentication by a proxy in front of the server, with three headers.
///
/// A secret is required: the proxy proves each name with its HMAC, in hexadecimal digits.
public struct ProxyOptions: Sendable {
    /// The secret shared with the proxy.
    public var secret: String
    /// The header with the name; `X-Auth-CouchDB-UserName` by default.
    public var nameHeader = "X-Auth-CouchDB-UserName"
    /// The header with the roles, separated by commas; `X-Auth-CouchDB-Roles` by default.
    public var rolesHeader = "X-Auth-CouchDB-Roles"
    /// The header with the HMAC of the name; `X-Auth-CouchDB-Token` by default.
    public var tokenHeader = "X-Auth-CouchDB-Token"

    /// Makes options with a secret; `nil` for an empty one.
    public init?(secret: String) {
        guard !secret.isEmpty else { return nil }
        self.secret = secret
    }
}
