internal import Settle
internal import SettlePlatform

/// The message that `settle serve` prints when it listens.
struct ServeAnnouncement {
    /// Where the databases are.
    let place: String
    /// This node's name; `nil` for a folder, which has one server.
    let node: String?
    let host: String
    let port: Int
    let isSecure: Bool
    /// Whether it shows the console.
    let hasConsole: Bool
    /// The administrator that was created at this start.
    let administrator: AdministratorSetting?
    /// The password that was generated at this start.
    let made: String?

    /// Its URL. The wildcard address is printed as the one to use on this machine.
    var url: String {
        let name =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "[::1]"
            default: host.contains(":") ? "[\(host)]" : host
            }
        return "\(isSecure ? "https" : "http")://\(name):\(port)/"
    }

    /// Where a browser finds the console; `nil` without one.
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
