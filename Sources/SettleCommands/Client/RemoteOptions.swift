internal import Settle
internal import SettlePlatform
import SettleReplication

/// Authentication at a server, and trusted certificates: the options of every verb that takes a URL.
///
/// A password is looked for in this order: in the URL, `--password-file`, `SETTLE_PASSWORD`, `~/.netrc`, and a person is asked.
struct RemoteOptions {
    let arguments: Arguments
    let console: Console

    /// The options, which the help lists under a heading of their own.
    static let options = [
        Option("--user", value: "NAME", "the user at the server; the password is in SETTLE_PASSWORD, or prompted for"),
        Option("--password-file", value: "FILE", "the password is the first line of this file"),
        Option(
            "--bearer-file", value: "FILE",
            "authenticate with the token in the first line of this file (or SETTLE_TOKEN)"),
        Option("--ca", value: "FILE", "trust these certificates (PEM) instead of the system's"),
        Option("--cert", value: "FILE", "authenticate with this client certificate (PEM)"),
        Option(
            "--cert-key", value: "FILE", aliases: ["--key"], "the key of that certificate (default: in the same file)"),
    ]

    /// A client that trusts the certificates of the options.
    func client() throws -> DefaultTransport {
        var options = TransportOptions()
        options.tls.roots = try readable("--ca")
        if let certificate = try readable("--cert") {
            options.tls.clientCertificate = TLSOptions.ClientCertificate(
                certificate: certificate, key: try readable("--cert-key") ?? certificate)
        } else if arguments.text("--cert-key") != nil {
            throw CommandError.usage("--cert-key needs --cert")
        }
        return DefaultTransport(options)
    }

    /// The credentials for a server.
    func credentials(for url: HTTPURL) throws -> ReplicationCredentials {
        for option in ["--user", "--password-file"] { try arguments.refuse(option, with: "--bearer-file") }
        if let given = arguments.text("--user"), let user = url.user, given != user {
            throw CommandError.usage("the URL and --user name different users")
        }
        if let path = arguments.text("--bearer-file") { return .bearer(try Self.firstLine(of: path)) }
        if let user = arguments.text("--user") ?? url.user {
            return .basic(user: user, password: try password(of: user, at: url))
        }
        if arguments.text("--password-file") != nil {
            throw CommandError.usage("--password-file needs --user, or a user in the URL")
        }
        if let token = Self.variable("SETTLE_TOKEN") { return .bearer(token) }
        if let entry = try NetrcFile.atHome()?.entry(for: url.host, user: nil), let user = entry.user {
            return .basic(user: user, password: entry.password ?? "")
        }
        return .none
    }

    private func password(of user: String, at url: HTTPURL) throws -> String {
        if let password = url.password { return password }
        if let path = arguments.text("--password-file") { return try Self.firstLine(of: path) }
        if let password = Self.variable("SETTLE_PASSWORD") { return password }
        if let password = try NetrcFile.atHome()?.entry(for: url.host, user: user)?.password { return password }
        if console.errorTerminal.isTerminal, let password = try PasswordPrompt.ask(user, at: url.authority) {
            return password
        }
        throw CommandError.usage(
            "there is no password for \"\(user)\": set SETTLE_PASSWORD, or give --password-file FILE")
    }

    /// The value of an option that names a file, once it is known that it can be read.
    private func readable(_ option: String) throws -> String? {
        guard let path = arguments.text(option) else { return nil }
        _ = try ByteInput.open(path)
        return path
    }

    private static func firstLine(of path: String) throws -> String {
        let text = String(decoding: try ByteInput.open(path).readAll(), as: UTF8.self)
        let line = text.prefix { !$0.isNewline }
        if line.isEmpty { throw CommandError.invalid("\(path) is empty") }
        return String(line)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension RemoteOptions {
    /// The password that is written down with a replication: that of the URL, of `~/.netrc`, or a person is asked. The tool's own,
    /// in `SETTLE_PASSWORD` or a file, is for who keeps the replication, and goes nowhere else.
    struct KeptCredentials {
        let console: Console

        /// Who the replication is at an address.
        ///
        /// - Throws: ``CommandError`` with status `usage` when a user is named and there is no password.
        func credentials(for url: HTTPURL) throws -> ReplicationCredentials {
            let entry = try NetrcFile.atHome()?.entry(for: url.host, user: url.user)
            guard let user = url.user ?? entry?.user else { return .none }
            if let password = url.password ?? entry?.password { return .basic(user: user, password: password) }
            if console.errorTerminal.isTerminal, let password = try PasswordPrompt.ask(user, at: url.authority) {
                return .basic(user: user, password: password)
            }
            throw CommandError.usage("there is no password for \"\(user)\" at \(url.authority): put it into ~/.netrc")
        }
    }
}
