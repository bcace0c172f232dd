internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// A server's authentication and access options.
public struct SecurityOptions: Sendable {
    /// Administrators and their passwords, in addition to the stored ones; kept in memory only. Servers that share
    /// a store should have the same.
    public var admins: [String: String] = [:]
    /// The iterations for new password hashes; 600,000 by default, as in CouchDB 3.5.
    public var passwordIterations = 600_000
    /// The number of passwords that are hashed concurrently; 2 by default.
    public var passwordWorkers = 2
    /// The time that a session lasts without a request, in whole seconds; 600 seconds by default.
    public var sessionTimeout: Duration = .seconds(600)
    /// The validity of the cookie `AuthTicket`, in whole seconds; 7 days by default, 0 to switch the cookie off. If
    /// a client sends name and password with each request, the cookie makes further verifications of the password
    /// unnecessary.
    public var ticketLifetime: Duration = .seconds(604_800)
    /// Whether a browser keeps the session's cookie when it exits; `true` by default.
    public var hasPersistentCookies = true
    /// The attribute `SameSite` of the session's cookie; `Lax` by default, `nil` for a cookie without the attribute.
    public var sameSite: SameSite? = .lax
    /// The attribute `Domain` of the session's cookie; `nil`, the default, for a cookie without the attribute.
    public var cookieDomain: String?
    /// The number of failed logins that lock a name for an address; 5 by default, 0 disables the lock-out.
    public var lockoutThreshold = 5
    /// The time that a lock-out lasts; 300 seconds by default.
    public var lockout: Duration = .seconds(300)
    /// The places where anonymous requests are allowed: by default, wherever a database allows them.
    public var anonymousAccess = AnonymousAccess.everywhere
    /// Whether only administrators may list databases; `true` by default.
    public var isListingForAdmins = true
    /// The members of user documents that everyone may read; empty by default.
    public var publicUserFields: Set<String> = []
    /// Whether the security object of `_users` may be changed, so that people can sign up; `false` by default.
    public var isUsersSecurityEditable = false
    /// The header `WWW-Authenticate` of responses with status 401, which makes browsers ask for a password; `nil`,
    /// the default, for none.
    public var challenge: String?
    /// Signed tokens as credentials; `nil`, the default, accepts none.
    public var tokens: TokenOptions?
    /// Authentication by a proxy; `nil`, the default, for none.
    public var proxy: ProxyOptions?
    /// Whether administrators may change some configuration over HTTP, persistently: limits of documents and
    /// requests, CORS, whether text indexes are created, and the administrators; `false` by default.
    public var allowsLiveSettings = false
    /// The proxies whose headers are trusted. Their `X-Forwarded-For` gives the client's address for the lock-out
    /// and the log. Their `Forwarded`, `X-Forwarded-Host`, `-Proto`, `-Ssl` and `-Prefix` give the address of the
    /// server for the header `Location` and for cookies, which get the attribute `Secure` if the client uses TLS.
    /// The list is empty by default; then these headers are ignored.
    public var trustedProxies: [NetworkRange] = []
    /// The allowed cross-origin requests (CORS); `nil`, the default, allows none.
    public var crossOrigin: CrossOriginOptions?

    /// The values of the attribute `SameSite`.
    public enum SameSite: String, Sendable, CaseIterable {
        /// Sent with every request, also from pages of other sites.
        case none = "None"
        /// Sent when a link is followed, but not with resources that pages of other sites load.
        case lax = "Lax"
        /// Sent only with requests from pages of the same site.
        case strict = "Strict"
    }

    /// The places where anonymous requests are allowed.
    public enum AnonymousAccess: Sendable {
        /// Wherever a database allows them.
        case everywhere
        /// Only for `/_up`.
        case upOnly
        /// Nowhere.
        case nowhere
    }

    /// Creates options with the defaults.
    public init() {}
}

extension SecurityOptions {
    /// Reads options from a configuration in JSON; docs/SECURITY.md lists its members.
    ///
    /// - Parameters:
    ///   - configuration: The JSON text.
    ///   - defaults: The options of missing members.
    /// - Throws: ``DatabaseError`` with code `invalid` for malformed input, an unknown member or an invalid value, because a
    ///   typing error must not weaken security.
    public init(configuration: [UInt8], defaults: SecurityOptions = SecurityOptions()) throws {
        self = defaults
        let reader = try ConfigurationReader(utf8: configuration)
        passwordIterations = try reader.count("password_iterations") ?? passwordIterations
        sessionTimeout = try reader.seconds("session_timeout") ?? sessionTimeout
        ticketLifetime = try reader.seconds("ticket_lifetime", from: 0) ?? ticketLifetime
        hasPersistentCookies = try reader.flag("persistent_cookies") ?? hasPersistentCookies
        sameSite = try reader.choice("same_site", ["none": SameSite.none, "lax": .lax, "strict": .strict]) ?? sameSite
        cookieDomain = try reader.text("cookie_domain") ?? cookieDomain
        lockoutThreshold = try reader.count("lockout_threshold", from: 0) ?? lockoutThreshold
        lockout = try reader.seconds("lockout_seconds") ?? lockout
        anonymousAccess =
            try reader.choice("anonymous", ["everywhere": .everywhere, "up": .upOnly, "nowhere": .nowhere])
            ?? anonymousAccess
        isListingForAdmins = try reader.flag("listing_for_admins") ?? isListingForAdmins
        publicUserFields = try reader.texts("public_user_fields").map { Set($0) } ?? publicUserFields
        isUsersSecurityEditable = try reader.flag("users_security_editable") ?? isUsersSecurityEditable
        allowsLiveSettings = try reader.flag("live_settings") ?? allowsLiveSettings
        challenge = try reader.text("www_authenticate") ?? challenge
        tokens = try reader.inner("tokens").map(Self.tokens) ?? tokens
        proxy = try reader.inner("proxy").map(Self.proxy) ?? proxy
        trustedProxies =
            try reader.texts("trusted_proxies")?.map { text in
                guard let range = NetworkRange(text) else {
                    throw ConfigurationReader.failure("`trusted_proxies` must be addresses or ranges like 10.0.0.0/8")
                }
                return range
            } ?? trustedProxies
        crossOrigin = try reader.inner("cors").map(Self.crossOrigin) ?? crossOrigin
        try reader.finish()
    }

    private static func tokens(_ reader: ConfigurationReader) throws -> TokenOptions {
        let keys = try (reader.inners("keys") ?? []).map { item in
            let id = try item.text("kid") ?? "_default"
            let secret = try item.text("secret").flatMap { Base64.decode($0.utf8) }
            let pem = try item.text("pem")
            try item.finish()
            let key = secret.map { TokenKey(id: id, secret: $0) } ?? pem.map { TokenKey(id: id, pem: $0) } ?? nil
            guard let key, (secret == nil) != (pem == nil) else {
                throw ConfigurationReader.failure("the key \"\(id)\" needs a `secret` in base64, or a `pem`")
            }
            return key
        }
        guard !keys.isEmpty else { throw ConfigurationReader.failure("`tokens` needs `keys`") }
        var options = TokenOptions(keys: keys)
        if let claims = try reader.texts("required_claims") { options.requiredClaims = Set(claims) }
        options.issuer = try reader.text("issuer")
        options.audience = try reader.text("audience")
        options.rolesPath = try reader.texts("roles_path") ?? options.rolesPath
        try reader.finish()
        return options
    }

    private static func proxy(_ reader: ConfigurationReader) throws -> ProxyOptions {
        guard var options = ProxyOptions(secret: try reader.text("secret") ?? "") else {
            throw ConfigurationReader.failure("`proxy` needs a `secret`")
        }
        options.nameHeader = try reader.text("name_header") ?? options.nameHeader
        options.rolesHeader = try reader.text("roles_header") ?? options.rolesHeader
        options.tokenHeader = try reader.text("token_header") ?? options.tokenHeader
        try reader.finish()
        return options
    }

    private static func crossOrigin(_ reader: ConfigurationReader) throws -> CrossOriginOptions {
        guard let origins = try reader.texts("origins"), !origins.isEmpty else {
            throw ConfigurationReader.failure("`cors` needs `origins`")
        }
        var options = CrossOriginOptions(origins: Set(origins))
        options.allowsCredentials = try reader.flag("credentials") ?? false
        options.methods = try reader.texts("methods") ?? options.methods
        if let headers = try reader.texts("headers") { options.headers = Set(headers.map { $0.lowercased() }) }
        options.maximumAge = try reader.seconds("max_age", from: 0) ?? options.maximumAge
        try reader.finish()
        if options.allowsCredentials, origins.contains("*") {
            throw ConfigurationReader.failure("`credentials` don't go with the origin `*`")
        }
        return options
    }
}

// MARK: - TokenOptions

/// Signed tokens (JWT) accepted as credentials: `Authorization: Bearer …`.
public struct TokenOptions: Sendable {
    /// The keys, which tokens select by algorithm and `kid`.
    public var keys: [TokenKey]
    /// Required claims, of `exp`, `nbf`, `iat`, `sub`; `exp` by default. Claims of time are checked whenever present.
    public var requiredClaims: Set<String> = ["exp"]
    /// The required issuer; any by default.
    public var issuer: String?
    /// The required audience; any by default.
    public var audience: String?
    /// The path of the claim with the roles; by default `_couchdb.roles` as a single name.
    public var rolesPath = ["_couchdb.roles"]

    /// Creates options with keys.
    public init(keys: [TokenKey]) { self.keys = keys }
}

/// A key for signed tokens.
///
/// A key is of one kind, and an algorithm of another kind can't use it. So a public key is never used as a shared
/// secret.
public struct TokenKey: Sendable {
    enum Material: Sendable {
        case secret([UInt8])
        case key(PublicKey)
    }

    let id: String
    let material: Material

    /// A shared secret, for the algorithms HS256, HS384 and HS512; `nil` for an empty one.
    ///
    /// - Parameters:
    ///   - id: The key's name, the `kid` of tokens; `_default` for tokens without.
    ///   - secret: The secret.
    public init?(id: String = "_default", secret: [UInt8]) {
        guard !secret.isEmpty else { return nil }
        self.id = id
        material = .secret(secret)
    }

    /// A public key in PEM, for RS256, RS384 and RS512, or for ES256, ES384 or ES512 by its curve; `nil` for invalid
    /// input, another kind, or an RSA key of fewer than 2,048 bits.
    ///
    /// - Parameters:
    ///   - id: The key's name, the `kid` of tokens; `_default` for tokens without.
    ///   - pem: The key.
    public init?(id: String = "_default", pem: String) {
        guard let key = PublicKey(pem: pem) else { return nil }
        self.id = id
        material = .key(key)
    }
}

// MARK: - ProxyOptions

/// Authentication by a proxy in front of the server, with three headers.
///
/// A secret is required: the proxy proves each name with its HMAC, in hexadecimal digits.
public struct ProxyOptions: Sendable {
    /// The secret shared with the proxy.
    public var secret: String
    /// The header with the name; `X-Auth-CouchDB-UserName` by default.
    public var nameHeader = "X-Auth-CouchDB-UserName"
    /// The header with the roles, separated by commas; `X-Auth-CouchDB-Roles` by default.
    public var rolesHeader = "X-Auth-CouchDB-Roles"
    /// The header with the HMAC of the name; `X-Auth-CouchDB-Token` by default.
    public var tokenHeader = "X-Auth-CouchDB-Token"

    /// Creates options with a secret; `nil` for an empty secret.
    public init?(secret: String) {
        guard !secret.isEmpty else { return nil }
        self.secret = secret
    }
}

// MARK: - ConfigurationReader

/// Reads the members of a configuration, and reports unknown ones.
///
/// Messages name members, never values, which may be secrets.
final class ConfigurationReader {
    private var members: [String: JSONValue]
    private static let most = 1_000_000_000

    init(utf8 bytes: [UInt8]) throws {
        guard let object = (try? JSONValue(utf8: bytes))?.object else { throw Self.failure("it must be a JSON object") }
        members = Dictionary(object.map { ($0.name, $0.value) }) { $1 }
    }

    private init(_ object: JSONObject) { members = Dictionary(object.map { ($0.name, $0.value) }) { $1 } }

    /// Creates an error about the configuration.
    static func failure(_ what: String) -> DatabaseError { DatabaseError(.invalid, "the configuration: \(what)") }

    func text(_ name: String) throws -> String? { try parse(name, "text", \.string) }

    func flag(_ name: String) throws -> Bool? { try parse(name, "true or false", \.bool) }

    func count(_ name: String, from least: Int = 1) throws -> Int? {
        try parse(name, "a whole number from \(least) to \(Self.most)") { value in
            value.int.flatMap { (least...Self.most).contains($0) ? $0 : nil }
        }
    }

    /// Reads a time in whole seconds.
    func seconds(_ name: String, from least: Int = 1) throws -> Duration? {
        try count(name, from: least).map { .seconds($0) }
    }

    func texts(_ name: String) throws -> [String]? {
        try parse(name, "a list of text") { value in
            guard let list = value.array else { return nil }
            let texts = list.compactMap(\.string)
            return texts.count == list.count ? texts : nil
        }
    }

    func choice<Value>(_ name: String, _ values: [String: Value]) throws -> Value? {
        try parse(name, "one of \(values.keys.sorted().joined(separator: ", "))") { $0.string.flatMap { values[$0] } }
    }

    func inner(_ name: String) throws -> ConfigurationReader? {
        try parse(name, "an object") { $0.object.map(ConfigurationReader.init) }
    }

    func inners(_ name: String) throws -> [ConfigurationReader]? {
        try parse(name, "a list of objects") { value in
            guard let list = value.array else { return nil }
            let objects = list.compactMap(\.object)
            return objects.count == list.count ? objects.map(ConfigurationReader.init) : nil
        }
    }

    /// Checks that every member was read.
    func finish() throws {
        if let name = members.keys.min() { throw Self.failure("`\(name)` is not known") }
    }

    private func parse<Value>(_ name: String, _ kind: String, _ read: (JSONValue) -> Value?) throws -> Value? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard let read = read(value) else { throw Self.failure("`\(name)` must be \(kind)") }
        return read
    }
}
