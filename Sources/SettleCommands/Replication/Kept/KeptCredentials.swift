internal import Settle

/// The password that is written down with a replication: that of the URL, of `~/.netrc`, or a person is asked. The tool's own,
/// in `SETTLE_PASSWORD` or a file, is for who keeps the replication, and goes nowhere else.
struct KeptCredentials {
    let console: Console

    /// Who the replication is at an address.
    ///
    /// - Throws: ``CommandError`` with status `usage` when a user is named and there is no password.
    func credentials(for url: HTTPURL) throws -> Credentials {
        let entry = try NetrcFile.atHome()?.entry(for: url.host, user: url.user)
        guard let user = url.user ?? entry?.user else { return .none }
        if let password = url.password ?? entry?.password { return .basic(user: user, password: password) }
        if console.errorTerminal.isTerminal, let password = try PasswordPrompt.ask(user, at: url.authority) {
            return .basic(user: user, password: password)
        }
        throw CommandError.usage("there is no password of \"\(user)\" at \(url.authority): put it into ~/.netrc")
    }
}
