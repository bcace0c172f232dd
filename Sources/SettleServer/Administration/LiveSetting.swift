internal import SettleHTTP
internal import SettlePlatform

/// A setting that can be changed while the server runs: its name in CouchDB's configuration, and its value as text.
///
/// No such setting names a program, a path, an address or a person, and none opens a database. Administrators have
/// endpoints of their own, ``AdministratorEndpoints``.
struct LiveSetting: Sendable {
    let section: String
    let key: String
    let text: @Sendable (LiveSettings) -> String
    /// Sets the value from text.
    private let take: @Sendable (inout LiveSettings, String) throws -> Void

    /// The only setting that can be changed if ``SecurityOptions/allowsLiveSettings`` is off.
    static let usersSecurity = flag(
        "couchdb", "users_db_security_editable", \.isUsersSecurityEditable, { $0.isUsersSecurityEditable = $1 })

    /// All settings.
    static let all: [LiveSetting] = [
        usersSecurity,
        count("couchdb", "max_document_size", 1, \.largestDocument, { $0.largestDocument = $1 }),
        count("couchdb", "max_bulk_docs_count", 1, \.bulkDocuments, { $0.bulkDocuments = $1 }),
        count("couchdb", "max_bulk_get_count", 1, \.bulkGets, { $0.bulkGets = $1 }),
        count("chttpd", "max_http_request_size", 1, \.largestUpload, { $0.largestUpload = $1 }),
        flag("chttpd", "decode_plus_to_space", \.decodesPlusToSpace, { $0.decodesPlusToSpace = $1 }),
        flag("chttpd", "enable_cors", \.isCrossOriginOn, { $0.isCrossOriginOn = $1 }),
        flag("cors", "credentials", \.crossOrigin.allowsCredentials, { $0.crossOrigin.allowsCredentials = $1 }),
        count(
            "cors", "max_age", 0, \.crossOrigin.maximumAge.wholeSeconds,
            { $0.crossOrigin.maximumAge = .seconds($1) }),
        list("cors", "origins", { $0.crossOrigin.origins.sorted() }, { $0.crossOrigin.origins = Set(try origins($1)) }),
        list("cors", "headers", { $0.crossOrigin.headers.sorted() }, { $0.crossOrigin.headers = Set(try headers($1)) }),
        list("cors", "methods", { $0.crossOrigin.methods }, { $0.crossOrigin.methods = try methods($1) }),
        flag("text_indexes", "enable", \.makesTextIndexes, { $0.makesTextIndexes = $1 }),
    ]

    /// Whether the setting can be changed even if ``SecurityOptions/allowsLiveSettings`` is off.
    var isSwitch: Bool { (section, key) == (Self.usersSecurity.section, Self.usersSecurity.key) }

    /// The setting of a section and key; `nil` if it is fixed or unknown.
    static func find(_ section: String, _ key: String) -> LiveSetting? {
        all.first { $0.section == section && $0.key == key }
    }

    /// Changes a value.
    ///
    /// - Throws: ``HTTPError`` with status 400 for an invalid value, or one that conflicts with other settings.
    func set(_ text: String, in settings: inout LiveSettings) throws {
        var changed = settings
        try take(&changed, text)
        if changed.crossOrigin.allowsCredentials, changed.crossOrigin.origins.contains("*") {
            throw HTTPError.badRequest("cors/credentials can't be true with the origin *")
        }
        settings = changed
    }

    private init(
        section: String, key: String, text: @escaping @Sendable (LiveSettings) -> String,
        take: @escaping @Sendable (inout LiveSettings, String) throws -> Void
    ) {
        (self.section, self.key, self.text, self.take) = (section, key, text, take)
    }

    private static func flag(
        _ section: String, _ key: String, _ get: @escaping @Sendable (LiveSettings) -> Bool,
        _ set: @escaping @Sendable (inout LiveSettings, Bool) -> Void
    ) -> LiveSetting {
        LiveSetting(
            section: section, key: key, text: { "\(get($0))" },
            take: { settings, text in
                guard let value = Bool(text) else {
                    throw HTTPError.badRequest("the value must be \"true\" or \"false\"")
                }
                set(&settings, value)
            })
    }

    private static func count(
        _ section: String, _ key: String, _ least: Int, _ get: @escaping @Sendable (LiveSettings) -> Int,
        _ set: @escaping @Sendable (inout LiveSettings, Int) -> Void
    ) -> LiveSetting {
        LiveSetting(
            section: section, key: key, text: { "\(get($0))" },
            take: { settings, text in
                guard let value = Int(text), value >= least else {
                    throw HTTPError.badRequest("the value must be a whole number from \(least) on, in quotes")
                }
                set(&settings, value)
            })
    }

    /// A setting whose value is a list separated by commas.
    private static func list(
        _ section: String, _ key: String, _ get: @escaping @Sendable (LiveSettings) -> [String],
        _ set: @escaping @Sendable (inout LiveSettings, [String]) throws -> Void
    ) -> LiveSetting {
        LiveSetting(
            section: section, key: key, text: { get($0).joined(separator: ",") },
            take: { settings, text in
                let parts = text.split(separator: ",", omittingEmptySubsequences: false)
                try set(&settings, text.isEmpty ? [] : parts.map { String($0).trimmingBlanks() })
            })
    }

    private static func origins(_ texts: [String]) throws -> [String] {
        guard texts.allSatisfy(isOrigin) else {
            throw HTTPError.badRequest("an origin must be `*`, or as https://app.example.com")
        }
        return texts
    }

    private static func headers(_ texts: [String]) throws -> [String] { try texts.map { try token($0).lowercased() } }

    private static func methods(_ texts: [String]) throws -> [String] { try texts.map { try token($0).uppercased() } }

    /// Checks the name of a header or method.
    private static func token(_ text: String) throws -> String {
        let isToken = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
        guard isToken, !text.isEmpty else { throw HTTPError.badRequest("the value must be names with commas between") }
        return text
    }

    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        guard let mark = text.firstRange(of: "://") else { return false }
        let (scheme, host) = (text[..<mark.lowerBound], text[mark.upperBound...])
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#@\"\\".utf8.contains($0) }
        return isHost && !scheme.isEmpty && scheme.allSatisfy { $0.isASCII && ($0.isLetter || "+-.".contains($0)) }
    }
}

// MARK: - LiveSettings

/// The current values of the settings that can be changed while the server runs.
struct LiveSettings: Sendable {
    /// Whether the security object of `_users` may be changed.
    var isUsersSecurityEditable: Bool
    /// Whether pages of other origins may use the server.
    var isCrossOriginOn: Bool
    /// The allowed origins, methods and headers.
    var crossOrigin: CrossOriginOptions
    /// The largest body of a document, in bytes.
    var largestDocument: Int
    /// The largest body of a request, in bytes.
    var largestUpload: Int
    /// The maximum number of documents that one request may write, and the maximum that one may read.
    var bulkDocuments: Int
    var bulkGets: Int
    /// Whether `POST /{db}/_index` creates text indexes.
    var makesTextIndexes: Bool

    /// Whether a plus in the path of a request means a space.
    var decodesPlusToSpace: Bool

    /// The settings that a server starts with.
    init(_ options: ServerOptions) {
        isUsersSecurityEditable = options.security.isUsersSecurityEditable
        isCrossOriginOn = options.security.crossOrigin != nil
        crossOrigin = options.security.crossOrigin ?? CrossOriginOptions(origins: [])
        largestDocument = options.largestDocument
        largestUpload = Int(clamping: options.largestUpload)
        (bulkDocuments, bulkGets) = (options.bulkDocuments, options.bulkGets)
        makesTextIndexes = options.makesTextIndexes
        decodesPlusToSpace = options.decodesPlusToSpace
    }

    /// Applies the stored changes, by `section/key`, to the settings that the server starts with. Changes that are
    /// no longer allowed are ignored; those that conflict with other settings are logged.
    init(_ options: ServerOptions, stored: [String: String]) {
        self.init(options)
        var refused: [(name: String, setting: LiveSetting, text: String)] = []
        for (name, text) in stored.sorted(by: { $0.key < $1.key }) {
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2, let setting = LiveSetting.find(parts[0], parts[1]),
                options.security.allowsLiveSettings || setting.isSwitch
            else { continue }
            // A later change may allow this one: credentials need origins other than `*`.
            do { try setting.set(text, in: &self) } catch { refused.append((name, setting, text)) }
        }
        for (name, setting, text) in refused {
            do { try setting.set(text, in: &self) } catch {
                options.log?.warning("the stored setting \(name) was not taken: \(HTTPError(error).reason)")
            }
        }
    }

    /// The origins that are allowed now; `nil` for none.
    var otherOrigins: CrossOriginOptions? { isCrossOriginOn && !crossOrigin.origins.isEmpty ? crossOrigin : nil }
}
