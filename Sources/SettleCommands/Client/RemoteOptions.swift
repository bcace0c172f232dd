internal import Settle
internal import SettleHTTP
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
        if let password = PasswordPrompt.typedBefore(user, at: url.authority) { return password }
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
    /// The options for the password that a user gets.
    static let newPassword = [
        Option(
            "--new-password-file", value: "FILE",
            "the new password is the first line of this file (or SETTLE_NEW_PASSWORD); else it is prompted for")
    ]

    /// The password that a user gets: that of a file, or of `SETTLE_NEW_PASSWORD`, or a person types it twice.
    ///
    /// - Throws: ``CommandError`` with status `usage` where nobody can be asked.
    func newPassword(of user: String) throws -> String {
        if let path = arguments.text("--new-password-file") { return try Self.firstLine(of: path) }
        if let password = Self.variable("SETTLE_NEW_PASSWORD") { return password }
        if console.errorTerminal.isTerminal, let password = try PasswordPrompt.askTwice(user) { return password }
        throw CommandError.usage(
            "there is no password for \"\(user)\": set SETTLE_NEW_PASSWORD, or give --new-password-file FILE")
    }

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

// MARK: - NetrcFile

/// A file of passwords by hosts, as curl, git and ftp read it:
///
///     machine couch.example login anna password secret
///     default login guest password guest
///
/// Words are parted by blanks and lines; one with blanks stands in quotes. Macros (`macdef`) are passed over.
struct NetrcFile: Sendable {
    /// What is known of a host.
    struct Entry: Sendable, Equatable {
        /// The host; `nil` for all others.
        var host: String?
        var user: String?
        var password: String?
    }

    private(set) var entries: [Entry] = []

    init(_ text: String) {
        var words = Self.words(text)[...]
        while let word = words.popFirst() {
            switch word {
            case "machine": entries.append(Entry(host: words.popFirst()?.lowercased() ?? ""))
            case "default": entries.append(Entry())
            case "login" where !entries.isEmpty: entries[entries.count - 1].user = words.popFirst()
            case "password" where !entries.isEmpty: entries[entries.count - 1].password = words.popFirst()
            default: break
            }
        }
    }

    /// The file `~/.netrc`; `nil` if it does not exist.
    static func atHome() throws -> NetrcFile? {
        guard let home = getenv("HOME").map({ String(cString: $0) }), access(home + "/.netrc", R_OK) == 0 else {
            return nil
        }
        return NetrcFile(String(decoding: try ByteInput.open(home + "/.netrc").readAll(), as: UTF8.self))
    }

    /// The first entry that fits a host, and a user if one is known.
    func entry(for host: String, user: String?) -> Entry? {
        entries.first { ($0.host == nil || $0.host == host) && (user == nil || $0.user == nil || $0.user == user) }
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isMacro = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            // A macro ends with an empty line.
            if isMacro {
                isMacro = !line.allSatisfy(\.isWhitespace)
                continue
            }
            var rest = line[...]
            while let start = rest.firstIndex(where: { !$0.isWhitespace }) {
                rest = rest[start...]
                if rest.first == "#" { break }
                let isQuoted = rest.first == "\""
                if isQuoted { rest.removeFirst() }
                let word = rest.prefix { isQuoted ? $0 != "\"" : !$0.isWhitespace }
                rest = rest[word.endIndex...].dropFirst()
                if word == "macdef", !isQuoted {
                    isMacro = true
                    break
                }
                words.append(String(word))
            }
        }
        return words
    }
}

// MARK: - PasswordPrompt

/// Asks for a password on the terminal, which does not show what is typed; standard input stays for documents.
enum PasswordPrompt {
    /// The passwords that were typed, so that a shell asks once.
    private static let known = Guarded<[String: String]>([:])

    /// The password that was typed earlier in this process.
    static func typedBefore(_ user: String, at host: String) -> String? {
        known.withLock { $0["\(user)\n\(host)"] }
    }

    /// Asks, the first time in this process; `nil` where there is no terminal.
    ///
    /// - Throws: ``CommandError/interrupted`` after Ctrl-C; the terminal shows again what is typed then.
    static func ask(_ user: String, at host: String) throws -> String? {
        if let password = typedBefore(user, at: host) { return password }
        guard let password = try typed("Password of \(user) at \(host): ") else { return nil }
        known.withLock { $0["\(user)\n\(host)"] = password }
        return password
    }

    /// Asks for a new password until the same one is typed twice; `nil` where there is no terminal.
    ///
    /// - Throws: ``CommandError/interrupted`` after Ctrl-C.
    static func askTwice(_ user: String) throws -> String? {
        while true {
            guard let first = try typed("New password of \(user): "), let second = try typed("Once more: ") else {
                return nil
            }
            if first.isEmpty { throw CommandError.invalid("an empty password is not allowed; nothing was changed") }
            if first == second { return first }
            complain("The two differ; type it again.\n")
        }
    }

    private static func complain(_ text: String) {
        let terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC)
        guard terminal >= 0 else { return }
        write(text, to: terminal)
        close(terminal)
    }

    private static func typed(_ question: String) throws -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var usual = termios()
        guard tcgetattr(terminal, &usual) == 0 else { return nil }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &usual)
            write("\n", to: terminal)
        }
        write(question, to: terminal)
        return try readLine(terminal)
    }

    private static func readLine(_ terminal: Int32) throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = Interruption.endingRead { read(terminal, &byte, 1) }
            try Interruption.check()
            if count == 1, byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else if count >= 0 || errno != EINTR {
                return String(decoding: line, as: UTF8.self)
            }
        }
    }

    private static func write(_ text: String, to terminal: Int32) {
        let bytes = Array(text.utf8)
        _ = systemWrite(terminal, bytes)
    }
}

/// `write`, whose name the enumeration has taken.
private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8]) -> Int { write(descriptor, bytes, bytes.count) }
