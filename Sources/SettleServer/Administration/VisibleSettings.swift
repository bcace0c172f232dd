internal import SettleHTTP
internal import SettlePlatform

/// The server's configuration under CouchDB's names, as administrators may read it.
///
/// It contains no secret, and nothing that helps to guess one: no password, hash, key, certificate or path. Where
/// settings can be changed over HTTP, it lists the administrators' names, which set-up tools expect.
struct VisibleSettings {
    /// The sections with their settings, in order.
    let sections: [(name: String, values: [(name: String, value: String)])]

    /// The text in place of a password's hash.
    static let hidden = "(hidden)"

    init(_ options: ServerOptions, _ live: LiveSettings, administrators: [String]) {
        let security = options.security
        var server = [
            ("admin_only_all_dbs", "\(security.isListingForAdmins)"), ("bind_address", options.host),
            ("decode_plus_to_space", "\(live.decodesPlusToSpace)"),
            ("enable_cors", "\(live.isCrossOriginOn)"), ("max_http_request_size", "\(live.largestUpload)"),
            ("port", "\(options.port)"), ("require_valid_user", "\(security.anonymousAccess == .nowhere)"),
            ("require_valid_user_except_for_up", "\(security.anonymousAccess == .upOnly)"),
        ]
        if let challenge = security.challenge { server.append(("WWW-Authenticate", challenge)) }
        var login = [
            ("allow_persistent_cookies", "\(security.hasPersistentCookies)"),
            ("iterations", "\(security.passwordIterations)"), ("timeout", "\(security.sessionTimeout.wholeSeconds)"),
            ("public_fields", security.publicUserFields.sorted().joined(separator: ",")),
            ("require_valid_user", "\(security.anonymousAccess == .nowhere)"),
        ]
        // Before version 3.2 CouchDB had these settings in this section.
        var old = [("enable_cors", "\(live.isCrossOriginOn)")]
        if let challenge = security.challenge { old.append(("WWW-Authenticate", challenge)) }
        if let sameSite = security.sameSite { login.append(("same_site", sameSite.rawValue.lowercased())) }
        if let domain = security.cookieDomain { login.append(("cookie_domain", domain)) }
        if let proxy = security.proxy {
            login += [
                ("proxy_use_secret", "true"), ("x_auth_roles", proxy.rolesHeader), ("x_auth_token", proxy.tokenHeader),
                ("x_auth_username", proxy.nameHeader),
            ]
        }
        var sections = [
            ("chttpd", server), ("chttpd_auth", login),
            (
                "chttpd_auth_lockout",
                [
                    ("max_lifetime", "\(min(security.lockout.wholeSeconds, 1_000_000_000) * 1000)"),
                    ("mode", security.lockoutThreshold > 0 ? "enforce" : "off"),
                    ("threshold", "\(security.lockoutThreshold)"),
                ]
            ),
            (
                "couchdb",
                [
                    ("max_bulk_docs_count", "\(live.bulkDocuments)"), ("max_bulk_get_count", "\(live.bulkGets)"),
                    ("max_dbs_open", "\(options.openDatabases)"), ("max_document_size", "\(live.largestDocument)"),
                    ("users_db_security_editable", "\(live.isUsersSecurityEditable)"),
                ]
            ),
        ]
        sections.append(("httpd", old))
        if security.allowsLiveSettings {
            sections.append(("admins", administrators.map { ($0, Self.hidden) }))
        }
        sections.append(("text_indexes", [("enable", "\(live.makesTextIndexes)")]))
        sections.append(
            (
                "replicator",
                [
                    ("allowed_hosts", options.replicator.allowedHosts.sorted().joined(separator: ",")),
                    ("max_jobs", "\(options.replicator.jobs)"),
                    ("private_addresses", options.replicator.privateAddresses.rawValue),
                ]
            ))
        if live.isCrossOriginOn || security.allowsLiveSettings {
            let cors = live.crossOrigin
            sections.append(
                (
                    "cors",
                    [
                        ("credentials", "\(cors.allowsCredentials)"),
                        ("headers", cors.headers.sorted().joined(separator: ",")),
                        ("max_age", "\(cors.maximumAge.wholeSeconds)"),
                        ("methods", cors.methods.joined(separator: ",")),
                        ("origins", cors.origins.sorted().joined(separator: ",")),
                    ]
                ))
        }
        if let tokens = security.tokens {
            sections.append(
                (
                    "jwt_auth",
                    [
                        ("required_claims", tokens.requiredClaims.sorted().joined(separator: ",")),
                        ("roles_claim_path", tokens.rolesPath.joined(separator: ".")),
                    ]
                ))
        }
        self.sections = sections.map { section in
            let sorted = section.1.sorted { $0.0 < $1.0 }
            return (name: section.0, values: sorted.map { (name: $0.0, value: $0.1) })
        }
    }
}
