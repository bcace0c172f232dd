/// Somebody who may log in.
struct Account: Sendable {
    let name: String
    let roles: [String]
    /// What is kept of the password; `nil` for one that can't log in by one.
    let password: PasswordHash?
    /// What a session's cookie is signed with beside the server's secret: with the password it changes, and ends sessions.
    var salt: String
    /// The second factor, for one who needs one.
    var secondFactor: SecondFactor = .none

    /// What is asked for beside a password.
    enum SecondFactor: Sendable {
        case none
        case code(TimeCode)
        /// One that is not understood, so that nobody has it.
        case unknown

        /// Whether a code will do.
        func accepts(_ code: String) -> Bool {
            switch self {
            case .none: true
            case .code(let codes): codes.accepts(code)
            case .unknown: false
            }
        }
    }
}
