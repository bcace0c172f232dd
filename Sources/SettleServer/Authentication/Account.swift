/// Somebody who may log in.
struct Account: Sendable {
    let name: String
    let roles: [String]
    /// What is kept of the password; `nil` for one that can't log in by one.
    let password: PasswordHash?
    /// What a session's cookie is signed with beside the server's secret: with the password it changes, and ends sessions.
    var salt: String
}
