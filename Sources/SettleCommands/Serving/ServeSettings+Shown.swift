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
        let width = names.map(\.count).max() ?? 0
        return zip(names, rows).map { text, row in
            text + String(repeating: " ", count: width - text.count + 2) + row.source
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
