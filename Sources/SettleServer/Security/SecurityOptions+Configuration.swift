internal import SettleCore
internal import SettleDatabase

extension SecurityOptions {
    /// Reads options from a configuration in JSON; docs/SECURITY.md has its members. What it lacks has the defaults.
    ///
    /// - Parameter configuration: The JSON text.
    /// - Throws: ``DatabaseError`` with code `invalid` for invalid input, has a member that is not known, or a value that
    ///   can't be: a slip in it must not leave a door open.
    public init(configuration: [UInt8]) throws {
        self.init()
        let reader = try ConfigurationReader(utf8: configuration)
        passwordIterations = try reader.count("password_iterations") ?? passwordIterations
        sessionTimeout = try reader.count("session_timeout") ?? sessionTimeout
        hasPersistentCookies = try reader.flag("persistent_cookies") ?? hasPersistentCookies
        sameSite = try reader.choice("same_site", ["none": .none, "lax": .lax, "strict": .strict])
        cookieDomain = try reader.text("cookie_domain")
        lockoutThreshold = try reader.count("lockout_threshold", from: 0) ?? lockoutThreshold
        lockoutSeconds = try reader.count("lockout_seconds").map(Double.init) ?? lockoutSeconds
        anonymousAccess =
            try reader.choice("anonymous", ["everywhere": .everywhere, "up": .upOnly, "nowhere": .nowhere])
            ?? anonymousAccess
        isListingForAdmins = try reader.flag("listing_for_admins") ?? isListingForAdmins
        publicUserFields = Set(try reader.texts("public_user_fields") ?? [])
        isUsersSecurityEditable = try reader.flag("users_security_editable") ?? isUsersSecurityEditable
        allowsLiveSettings = try reader.flag("live_settings") ?? allowsLiveSettings
        challenge = try reader.text("www_authenticate")
        tokens = try reader.inner("tokens").map(Self.tokens)
        proxy = try reader.inner("proxy").map(Self.proxy)
        trustedProxies = try (reader.texts("trusted_proxies") ?? []).map { text in
            guard let range = NetworkRange(text) else {
                throw ConfigurationReader.failure("`trusted_proxies` must be addresses or ranges like 10.0.0.0/8")
            }
            return range
        }
        crossOrigin = try reader.inner("cors").map(Self.crossOrigin)
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
        options.maximumAge = try reader.count("max_age", from: 0) ?? options.maximumAge
        try reader.finish()
        if options.allowsCredentials, origins.contains("*") {
            throw ConfigurationReader.failure("`credentials` don't go with the origin `*`")
        }
        return options
    }
}
