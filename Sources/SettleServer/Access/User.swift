/// The authenticated sender of a request.
struct User: Sendable {
    /// The name, or `nil` for an anonymous client.
    var name: String?
    /// The roles; `_admin` is the server's administrator.
    var roles: [String]
    /// The authentication handler.
    var handler: String?
    /// A cookie to send with the answer, if the request's is about to expire.
    var renewedCookie: String?

    /// A client without authentication.
    static let anonymous = User(name: nil, roles: [])

    /// Whether the user is an administrator of the server.
    var isServerAdmin: Bool { roles.contains("_admin") }
}
