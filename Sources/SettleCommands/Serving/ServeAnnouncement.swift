internal import Settle

/// The message that `settle serve` prints when it listens.
struct ServeAnnouncement {
    let folder: String
    let host: String
    let port: Int
    let isSecure: Bool
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

    var text: String {
        let first = "Serving \(folder) on \(url)"
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
            ("ok", true), ("url", .string(url)), ("port", .number(JSONNumber(port))), ("data", .string(folder)),
        ]
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
