internal import Settle
internal import SettlePlatform
internal import SettleServer

/// The configuration of `settle serve`. An option overrides an environment variable, which overrides the configuration file,
/// which overrides the default.
struct ServeSettings {
    /// The source of a setting, in descending priority.
    enum Source: Int, Comparable {
        case option, environment, file, preset, standard

        static func < (left: Source, right: Source) -> Bool { left.rawValue < right.rawValue }

        /// The source of a setting as text: `--port`, `SETTLE_PORT`, `file`, or `default`.
        func shown(of setting: ServeSetting) -> String {
            switch self {
            case .option: setting.flag
            case .environment: setting.variable
            case .file: "file"
            case .preset: "preset"
            case .standard: "default"
            }
        }
    }

    /// A setting's text and its source.
    struct Value {
        let text: String
        let source: Source
    }

    private let values: [String: Value]
    /// The options of authentication and access.
    let security: SecurityOptions
    /// The members of the file that set these options.
    let securityMembers: [String]
    /// The replicator's options; the file's member `replicator`.
    let replicator: ReplicatorOptions
    private let isReplicatorSet: Bool
    /// The PostgreSQL with the databases; `nil` for a folder.
    let postgres: PostgresSettings?

    /// Collects the settings.
    ///
    /// - Throws: ``CommandError`` with status `usage` for an invalid option or variable, and with the member for an
    ///   invalid file. A message never contains a value that may be a secret.
    init(_ arguments: Arguments, environment: [String: String], read: (String) throws -> [UInt8]) throws {
        var values: [String: Value] = [:]
        for setting in ServeSetting.all {
            if setting.value != nil, let text = arguments.text(setting.flag) {
                values[setting.name] = Value(text: text, source: .option)
            } else if let text = environment[setting.variable], !text.isEmpty {
                values[setting.name] = Value(text: text, source: .environment)
            }
        }
        var rest = JSONObject([])
        if let path = values["config"]?.text {
            let file = try Self.members(of: read(path), path)
            rest = JSONObject(file.filter { Self.setting($0.name) == nil }.map { ($0.name, $0.value) })
            for member in file {
                guard let setting = Self.setting(member.name) else { continue }
                guard let text = member.value.string ?? member.value.int.map(String.init) else {
                    throw CommandError.invalid("the configuration: `\(member.name)` must be text or a whole number")
                }
                if values[setting.name] == nil { values[setting.name] = Value(text: text, source: .file) }
            }
        }
        let replications = rest["replicator"]
        rest["replicator"] = nil
        isReplicatorSet = replications != nil
        replicator = try replications.map { try ReplicatorOptions(configuration: $0.utf8) } ?? ReplicatorOptions()
        let preset = values["preset"].flatMap { ServerPreset(rawValue: $0.text) }
        security = try SecurityOptions(
            configuration: JSONValue.object(rest).utf8, defaults: preset?.security ?? SecurityOptions())
        if let preset, values["document_size"] == nil {
            values["document_size"] = Value(text: "\(preset.largestDocument)", source: .preset)
        }
        securityMembers = rest.names
        postgres = try PostgresSettings(&values)
        // With PostgreSQL the folder is not set, not even by default.
        for setting in ServeSetting.all where postgres == nil || setting.name != "data" {
            if values[setting.name] == nil, let standard = setting.standard {
                values[setting.name] = Value(text: standard, source: .standard)
            }
        }
        self.values = values
        for setting in ServeSetting.all { try check(setting) }
    }

    /// A setting's text.
    func text(_ name: String) -> String? { values[name]?.text }

    /// A setting that is a count.
    func count(_ name: String) -> Int? { values[name].flatMap { Int($0.text) } }

    /// The source of a setting, if it is set.
    func source(_ name: String) -> Source? { values[name]?.source }

    /// The source of a setting as text: `--port`, `SETTLE_PORT`, `file`, or `default`.
    func origin(_ setting: ServeSetting) -> String? { values[setting.name]?.source.shown(of: setting) }

    /// The options of a server with these settings, except its certificate.
    var options: ServerOptions {
        var options = ServerOptions()
        options.host = text("host") ?? options.host
        options.port = count("port") ?? options.port
        options.connectionLimit = count("connections") ?? options.connectionLimit
        options.idleTimeout = count("idle_timeout").map { .seconds($0) } ?? options.idleTimeout
        if let days = count("scrub_days") { options.scrubInterval = days == 0 ? nil : .seconds(days * 86_400) }
        options.stopTimeout = count("stop_timeout").map { .seconds($0) } ?? options.stopTimeout
        options.openDatabases = count("open_databases") ?? options.openDatabases
        options.largestDocument = count("document_size") ?? options.largestDocument
        options.largestBody = count("body_size") ?? options.largestBody
        options.largestUpload = count("upload_size").map(Int64.init) ?? options.largestUpload
        options.bulkDocuments = count("bulk_docs") ?? options.bulkDocuments
        options.bulkGets = count("bulk_get") ?? options.bulkGets
        options.queryTime = count("query_seconds").map { .seconds($0) } ?? options.queryTime
        options.webSocketMemory = count("websocket_memory") ?? options.webSocketMemory
        options.hasConsole = text("console") != "off"
        options.makesTextIndexes = text("text_indexes") == "on"
        options.decodesPlusToSpace = text("decode_plus_to_space") != "off"
        options.security = security
        options.replicator = replicator
        return options
    }

    /// The source of the replicator's settings.
    var replicatorOrigin: String { isReplicatorSet ? "file" : "default" }

    /// The configured logs; events go to standard error.
    var log: ServerLog {
        get throws {
            let requests: LogDestination? =
                switch text("access_log") ?? "off" {
                case "off": nil
                case "-": .descriptor(1)
                case let path: .file(path)
                }
            let format = text("log_format").flatMap(LogFormat.init) ?? .text
            return try ServerLog(format: format, events: .descriptor(2), requests: requests)
        }
    }

    /// Whether a log file is configured, which can be reopened.
    var hasLogFile: Bool { !["off", "-"].contains(text("access_log") ?? "off") }

    private func check(_ setting: ServeSetting) throws {
        guard let value = values[setting.name] else { return }
        let problem: String
        switch setting.kind {
        case .text: return
        case .count(let range):
            if let number = Int(value.text), range.contains(number) { return }
            problem = "takes a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words):
            if words.contains(value.text) { return }
            problem = "takes one of \(words.joined(separator: ", "))"
        }
        if value.source == .file { throw CommandError.invalid("the configuration: `\(setting.name)` \(problem)") }
        throw CommandError.usage("\(origin(setting) ?? setting.flag) \(problem)", verb: "serve")
    }

    /// Whether the configuration file contains secrets.
    var holdsSecrets: Bool {
        let hasPassword = source("admin") == .file && text("admin")?.contains(":") == true
        return hasPassword || security.tokens != nil || security.proxy != nil
    }

    private static func setting(_ member: String) -> ServeSetting? {
        ServeSetting.all.first { $0.isInFile && $0.name == member }
    }

    private static func members(of bytes: [UInt8], _ path: String) throws -> JSONObject {
        let value: JSONValue
        do { value = try JSONValue(utf8: CommentedJSON.plain(bytes)) } catch {
            throw CommandError.invalid("the configuration: \(path), line \(error.line): it must be a JSON object")
        }
        guard let object = value.object else {
            throw CommandError.invalid("the configuration: \(path): it must be a JSON object")
        }
        return object
    }
}

extension ServeSettings {
    /// JSON with comments: a line that begins with `//`, after any blanks, is ignored.
    ///
    /// There are no other comments, so a `//` inside a string, such as in a URL, is safe: a JSON string never spans
    /// lines, so the beginning of a line is never inside a string.
    enum CommentedJSON {
        /// The text without its comments; the line numbers stay the same.
        static func plain(_ bytes: [UInt8]) -> [UInt8] {
            let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            return Array(
                lines.map { line in
                    line.drop { blanks.contains($0) }.starts(with: "//".utf8) ? [] : line
                }.joined(separator: [UInt8(ascii: "\n")]))
        }
    }
}

// MARK: - Shown

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
        "tls_cert", "tls_key", "connections", "idle_timeout", "document_size", "upload_size", "bulk_docs", "bulk_get",
        "text_indexes", "decode_plus_to_space", "cors", "users_security_editable",
    ]

    /// The names of the settings whose printed values differ from those in other settings.
    func changes(from other: ServeSettings) -> [String] {
        // The administrator was removed from the environment at the start, so a reload does not see it.
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
