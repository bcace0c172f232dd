/// Who sends a request.
struct User: Sendable {
    /// The name, or `nil` for one who did not log in.
    var name: String?
    /// The roles; `_admin` is the server's administrator.
    var roles: [String]

    /// One who did not log in.
    static let anonymous = User(name: nil, roles: [])
}
