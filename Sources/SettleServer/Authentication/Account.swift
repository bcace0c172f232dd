/// An account that may log in.
struct Account: Sendable {
    let name: String
    let roles: [String]
    /// The password's hash; `nil` for an account without a password.
    let password: PasswordHash?
    /// Signed into a session's cookie with the server's secret. It changes with the password, which ends the sessions.
    var salt: String
    /// The required second factor.
    var secondFactor: SecondFactor = .none

    /// What authentication requires beside a password.
    enum SecondFactor: Sendable {
        case none
        case code(TimeCode)
        /// A malformed one, which no code satisfies.
        case unknown

        /// Whether a code is valid.
        func accepts(_ code: String) -> Bool {
            switch self {
            case .none: true
            case .code(let codes): codes.accepts(code)
            case .unknown: false
            }
        }
    }
}
