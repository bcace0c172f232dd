internal import Settle
internal import SettlePlatform

/// The message that `settle serve` prints when it listens.
struct ServeAnnouncement {
    /// The location of the databases.
    let place: String
    /// This node's name; `nil` for a folder, which belongs to one server.
    let node: String?
    let host: String
    let port: Int
    let isSecure: Bool
    /// Whether the server provides the console.
    let hasConsole: Bool
    /// The administrator that was created at this start.
    let administrator: AdministratorSetting?
    /// The password that was generated at this start.
    let made: String?

    /// The server's URL. For the wildcard address, it is the URL to use on this machine.
    var url: String {
        let name =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "[::1]"
            default: host.contains(":") ? "[\(host)]" : host
            }
        return "\(isSecure ? "https" : "http")://\(name):\(port)/"
    }

    /// The URL of the console; `nil` if it is switched off.
    private var console: String? { hasConsole ? url + "_utils/" : nil }

    /// The fields of the log's line.
    var fields: KeyValuePairs<String, String> {
        guard let node else { return ["url": url, "data": place, "process": "\(getpid())"] }
        return ["url": url, "postgres": place, "node": node, "process": "\(getpid())"]
    }

    var text: String {
        let what = node.map { "PostgreSQL at \(place) as node \($0)" } ?? place
        let first = "Serving \(what) on \(url)" + (console.map { "\nThe console is at \($0)" } ?? "")
        if let made {
            return """
                \(first)
                Made the administrator admin with the password \(made)
                Keep it: it is not shown again.
                """
        }
        guard let administrator else {
            return "\(first)\nThe administrators' passwords are unchanged; --admin sets one"
        }
        return "\(first)\nThe password of the administrator \(administrator.name) is that of \(administrator.origin)"
    }

    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("ok", true), ("url", .string(url)), ("port", .number(JSONNumber(port))),
        ]
        if let console { members.append(("console", .string(console))) }
        if let node {
            members += [("postgres", .string(place)), ("node", .string(node))]
        } else {
            members += [("data", .string(place))]
        }
        if let made {
            members += [("admin", "admin"), ("password", .string(made)), ("password_from", "made")]
        } else if let administrator {
            members += [("admin", .string(administrator.name)), ("password_from", .string(administrator.origin))]
        } else {
            members += [("password_from", "earlier")]
        }
        return .object(JSONObject(members))
    }
}

// MARK: - AdministratorSetting

/// The administrator configured for `settle serve`, and the source of the password.
///
/// A password after a name belongs to that name. Otherwise the source with the highest priority counts, so that a
/// name given as an option is combined with the password of the environment.
struct AdministratorSetting {
    /// The source of a password.
    enum Place: Equatable {
        /// The text after the name, or in the environment.
        case given(String)
        /// The first line of this file.
        case file(String)
    }

    let name: String
    let place: Place
    /// The option or variable of the password: `--admin`, `SETTLE_ADMIN_PASSWORD`.
    let origin: String
    /// Whether the password is among the arguments of the process, where other users can see it.
    let isVisible: Bool

    /// - Returns: `nil` if no administrator is configured.
    /// - Throws: ``CommandError`` with status `usage` for a name without a password, or a password without a name.
    init?(_ settings: ServeSettings) throws {
        let others = ["admin_password", "admin_password_file"].compactMap { name in
            ServeSetting.all.first { $0.name == name }
        }
        let origins = Dictionary(
            uniqueKeysWithValues: ServeSetting.all.map { ($0.name, settings.origin($0) ?? $0.flag) })
        let given = others.filter { settings.source($0.name) != nil }
        guard let admin = settings.text("admin"), let source = settings.source("admin") else {
            guard let stray = given.first else { return nil }
            throw CommandError.usage(
                "\(origins[stray.name] ?? stray.flag) needs --admin or SETTLE_ADMIN", verb: "serve")
        }
        let parts = admin.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts[0]
        let strongest = given.compactMap { settings.source($0.name) }.min()
        if parts.count == 2, strongest.map({ source <= $0 }) ?? true {
            if source == strongest { throw Self.twice }
            place = .given(parts[1])
            origin = origins["admin"] ?? "--admin"
            isVisible = source == .option
            return
        }
        isVisible = parts.count == 2 && source == .option
        let chosen = given.filter { settings.source($0.name) == strongest }
        guard let setting = chosen.first, let text = settings.text(setting.name) else {
            throw CommandError.usage(
                "--admin needs a password: in --admin-password-file, or in SETTLE_ADMIN_PASSWORD", verb: "serve")
        }
        if chosen.count > 1 { throw Self.twice }
        place = setting.isSecret ? .given(text) : .file(text)
        origin = setting.isSecret ? setting.variable : "the file \(text)"
    }

    private static var twice: CommandError {
        CommandError.usage("the administrator's password was given twice, with equal priority", verb: "serve")
    }
}
