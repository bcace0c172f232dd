internal import Settle
internal import SettlePlatform
internal import SettleServer

extension ServeSettings {
    /// A setting as printed, without secrets.
    private struct Row {
        let name: String
        let value: JSONValue
        let source: String
    }

    /// The settings in columns: name, value, and source.
    var table: String {
        let rows = rows
        let names = Columns.aligned(
            rows.map { ($0.name, $0.value.isNull ? "-" : $0.value.string ?? $0.value.description) })
        // A long value, such as a list of origins, must not move all sources out of sight.
        let width = min(names.map(\.count).max() ?? 0, 60)
        return zip(names, rows).map { text, row in
            text + String(repeating: " ", count: max(width - text.count, 0) + 2) + row.source
        }.joined(separator: "\n")
    }

    /// The settings as JSON.
    var json: JSONValue {
        .object(
            JSONObject([
                ("ok", true),
                (
                    "settings",
                    .object(JSONObject(rows.map { ($0.name, ["value": $0.value, "source": .string($0.source)]) }))
                ),
            ]))
    }

    /// The settings that a reload applies to a running server.
    static let reloadable: Set<String> = [
        "tls_cert", "tls_key", "connections", "idle_timeout", "document_size", "upload_size", "text_indexes", "cors",
        "users_security_editable",
    ]

    /// The names of the settings whose shown values differ from those of other settings.
    func changes(from other: ServeSettings) -> [String] {
        // The start removes the administrator from the environment, so a reload does not see it.
        let ignored: Set<String> = ["admin", "admin_password"]
        return zip(rows, other.rows).filter { $0.value != $1.value && !ignored.contains($0.name) }.map { $0.0.name }
    }

    private var rows: [Row] {
        let server = ServeSetting.all.map { setting in
            Row(name: setting.name, value: shown(setting), source: origin(setting) ?? "default")
        }
        let standard = Self.shown(SecurityOptions())
        return server
            + zip(Self.shown(security), standard).map { setting, standard in
                let source = setting.1 == standard.1 ? "default" : "preset"
                return Row(
                    name: setting.0, value: setting.1,
                    source: securityMembers.contains(setting.0) ? "file" : source)
            } + [Row(name: "replicator", value: replicator.json, source: replicatorOrigin)]
    }

    private func shown(_ setting: ServeSetting) -> JSONValue {
        guard let text = text(setting.name) else { return .null }
        if setting.isSecret { return "(set)" }
        if case .count = setting.kind, let number = Int(text) { return .number(JSONNumber(number)) }
        guard setting.name == "admin", let colon = text.firstIndex(of: ":") else { return .string(text) }
        return .string(text[..<colon] + ":(set)")
    }

    private static func shown(_ options: SecurityOptions) -> [(String, JSONValue)] {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
        let anonymous =
            switch options.anonymousAccess {
            case .everywhere: "everywhere"
            case .upOnly: "up"
            case .nowhere: "nowhere"
            }
        let keys = options.tokens.map { "\($0.keys.count) \($0.keys.count == 1 ? "key" : "keys")" }
        let origins = options.crossOrigin.map { $0.origins.sorted().joined(separator: " ") }
        return [
            ("password_iterations", number(options.passwordIterations)),
            ("session_timeout", number(options.sessionTimeout.wholeSeconds)),
            ("ticket_lifetime", number(options.ticketLifetime.wholeSeconds)),
            ("persistent_cookies", .bool(options.hasPersistentCookies)),
            ("same_site", text(options.sameSite?.rawValue.lowercased())),
            ("cookie_domain", text(options.cookieDomain)),
            ("lockout_threshold", number(options.lockoutThreshold)),
            ("lockout_seconds", number(options.lockout.wholeSeconds)),
            ("anonymous", .string(anonymous)),
            ("listing_for_admins", .bool(options.isListingForAdmins)),
            ("users_security_editable", .bool(options.isUsersSecurityEditable)),
            ("live_settings", .bool(options.allowsLiveSettings)),
            ("public_user_fields", .array(options.publicUserFields.sorted().map(JSONValue.string))),
            ("www_authenticate", text(options.challenge)),
            ("tokens", text(keys)),
            ("proxy", text(options.proxy.map { _ in "(set)" })),
            ("trusted_proxies", .array(options.trustedProxies.map { .string($0.description) })),
            ("cors", text(origins)),
        ]
    }
}
