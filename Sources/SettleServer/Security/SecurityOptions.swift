internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A server's authentication and access options.
public struct SecurityOptions: Sendable {
    /// Administrators and their passwords, in addition to those of the server's stored settings; kept in memory only. Servers that
    /// share a store should have the same.
    public var admins: [String: String] = [:]
    /// The iterations for new password hashes; 600,000 by default, as in CouchDB 3.5.
    public var passwordIterations = 600_000
    /// How many passwords are hashed concurrently; 2 by default.
    public var passwordWorkers = 2
    /// How long a session lasts without a request, in whole seconds; 600 seconds by default.
    public var sessionTimeout: Duration = .seconds(600)
    /// How long the cookie `AuthTicket` is valid, which spares a client that sends name and password with each request another
    /// verification of the password; in whole seconds, 7 days by default, 0 for no such cookie.
    public var ticketLifetime: Duration = .seconds(604_800)
    /// Whether a browser keeps the session's cookie when it exits; true by default.
    public var hasPersistentCookies = true
    /// The attribute `SameSite` of the session's cookie; `Lax` by default, `nil` for a cookie without the attribute.
    public var sameSite: SameSite? = .lax
    /// The attribute `Domain` of the session's cookie; by default none.
    public var cookieDomain: String?
    /// How many failed logins lock a name for an address; 5 by default, 0 disables the lock-out.
    public var lockoutThreshold = 5
    /// How long a lock-out lasts; 300 seconds by default.
    public var lockout: Duration = .seconds(300)
    /// Where anonymous requests are allowed; by default wherever a database allows them.
    public var anonymousAccess = AnonymousAccess.everywhere
    /// Whether only administrators may list databases; true by default.
    public var isListingForAdmins = true
    /// The members of users' documents that everyone may read; by default none.
    public var publicUserFields: Set<String> = []
    /// Whether the security object of `_users` may be changed, so that people can sign up; false by default.
    public var isUsersSecurityEditable = false
    /// The header `WWW-Authenticate` of answers with status 401, which makes browsers ask for a password; by default none.
    public var challenge: String?
    /// Signed tokens as credentials; by default none.
    public var tokens: TokenOptions?
    /// Authentication by a proxy; by default none.
    public var proxy: ProxyOptions?
    /// Whether administrators may change some configuration over HTTP, persistently: limits of documents and requests, CORS, and
    /// whether text indexes are created. False by default.
    public var allowsLiveSettings = false
    /// Trusted proxies. Their `X-Forwarded-For` gives the client's address for the lock-out and the log; their `Forwarded`,
    /// `X-Forwarded-Host`, `-Proto`, `-Ssl` and `-Prefix` give the address of the server for the headers `Location` and for
    /// cookies, which get the attribute `Secure` for a client that uses TLS. Without any, which is the default, these headers
    /// are ignored.
    public var trustedProxies: [NetworkRange] = []
    /// Allowed cross-origin requests (CORS); by default none.
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

    /// Where anonymous requests are allowed.
    public enum AnonymousAccess: Sendable {
        /// Wherever a database allows them.
        case everywhere
        /// Only for `/_up`.
        case upOnly
        /// Nowhere.
        case nowhere
    }

    /// Makes options with the defaults.
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
