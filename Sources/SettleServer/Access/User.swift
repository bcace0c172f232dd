/// Who sends a request.
struct User: Sendable {
    /// The name, or `nil` for one who did not log in.
    var name: String?
    /// The roles; `_admin` is the server's administrator.
    var roles: [String]
    /// By which way they logged in.
    var handler: String?
    /// A cookie to send with the answer, when the one that came is about to expire.
    var renewedCookie: String?

    /// One who did not log in.
    static let anonymous = User(name: nil, roles: [])

    /// Whether they are an administrator of the server.
    var isServerAdmin: Bool { roles.contains("_admin") }
}
