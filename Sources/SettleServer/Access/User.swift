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
    /// The facts that must not change while the user stays authenticated; `nil` for an anonymous client and a proxy's user.
    var proof: Proof?

    /// The facts that authentication relied on.
    enum Proof: Sendable, Hashable {
        /// An account with a password that has this salt. It changes with the password.
        case password(salt: String)
        /// A session of such an account until a time, in seconds.
        case session(salt: String, end: Int)
        /// A signed token until a time, in seconds; `nil` for one without end.
        case token(end: Double?)
    }

    /// A client without authentication.
    static let anonymous = User(name: nil, roles: [])

    /// Whether the user is an administrator of the server.
    var isServerAdmin: Bool { roles.contains("_admin") }
}
