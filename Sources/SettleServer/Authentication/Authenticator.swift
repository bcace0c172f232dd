internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Authenticates requests by cookie, password, token, or a trusted proxy's headers, in this order.
struct Authenticator: Sendable {
    let options: SecurityOptions
    let administration: Administration
    let accounts: Accounts
    private let databases: DatabasePool
    let cookies: SessionCookie
    let lockout: LoginLockout

    init(_ options: ServerOptions, administration: Administration, databases: DatabasePool) {
        self.options = options.security
        self.administration = administration
        self.databases = databases
        accounts = Accounts(
            administration: administration, known: databases.isShared ? UserDocuments() : nil)
        cookies = SessionCookie(options: options.security, isSecure: options.certificate != nil)
        lockout = LoginLockout(
            threshold: options.security.lockoutThreshold, seconds: options.security.lockout.inSeconds)
    }

    /// The enabled authentication handlers, as `GET /_session` lists them.
    var handlers: [String] {
        (options.proxy == nil ? [] : ["proxy"]) + (options.tokens == nil ? [] : ["jwt"]) + ["cookie", "default"]
    }

    /// How cookies are made for the client of a request: only for encrypted connections, if it has one.
    func cookies(for request: HTTPRequest) -> SessionCookie {
        var cookies = cookies
        cookies.isSecure = cookies.isSecure || request.route.isSecure
        return cookies
    }

    /// Authenticates a request.
    ///
    /// - Throws: ``HTTPError`` for wrong or malformed credentials.
    func user(of request: HTTPRequest) throws -> User {
        try proxied(request) ?? token(request) ?? session(request, databases)
            ?? basic(request) { try login($0, $1, peer: request.peer) } ?? .anonymous
    }

    /// Who sends a request, if that needs no waiting: no key is derived, and no signature of a token is looked at.
    ///
    /// - Throws: ``HTTPError`` for credentials that are wrong, or none; ``NotAtHand``.
    func userAtHand(of request: HTTPRequest) throws -> User {
        let databases = PromptDatabases(databases)
        if let known = proxied(request) { return known }
        guard bearer(request) == nil else { throw NotAtHand() }
        return try session(request, databases) ?? basic(request) { name, password in
            guard let account = try accounts.find(name, in: databases), let hash = account.password,
                administration.hasher.remembers(password, hash, name), account.secondFactor.accepts("")
            else { throw NotAtHand() }
            try lockout.check(request.peer, name, account.salt)
            return account
        } ?? .anonymous
    }

    /// The account for a name and password, and a code if it has a second factor.
    ///
    /// - Throws: ``HTTPError`` with status 403 if the account is locked, and 503 if too many logins are waiting.
    func login(_ name: String, _ password: [UInt8], code: String = "", peer: String) throws -> Account? {
        let account = try accounts.find(name, in: databases)
        let salt = account?.salt ?? ""
        try lockout.check(peer, name, salt)
        // The lock is checked again when the key is derived, so that concurrent guesses stay within the limit.
        let isRight = try administration.hasher.verify(password, against: account?.password, of: name) {
            try lockout.check(peer, name, salt)
        }
        if isRight, let account, try accepts(code, of: account) { return account }
        lockout.fail(peer, name, salt)
        return nil
    }

    /// Whether a code satisfies the second factor of an account. A code of TOTP does so once (RFC 6238, section 5.2).
    ///
    /// A local document of `_users` has the half minute of the last used code. So a code is used up on every node, and after a
    /// restart.
    ///
    /// - Throws: ``DatabaseError`` if that document can't be read or written.
    private func accepts(_ code: String, of account: Account) throws -> Bool {
        guard case .code(let codes) = account.secondFactor else { return account.secondFactor.accepts(code) }
        guard let step = codes.step(of: code) else { return false }
        let users = try databases.open("_users")
        let id = DocumentID(unchecked: "_local/totp/" + account.name)
        let before = try users.localDocument(id)
        guard step > before?.body["step"]?.int ?? -1 else { return false }
        do {
            _ = try users.saveLocalDocument(id, body: ["step": .number(JSONNumber(step))], expecting: before?.revision)
            return true
        } catch let error as DatabaseError where error.code == .conflict {
            // Somebody else has just used a code.
            return false
        }
    }

    /// Whether a user whose request was authenticated before would still be, with the same roles.
    ///
    /// - Throws: ``DatabaseError`` if `_users` can't be read.
    func isCurrent(_ user: User, now: Int = SessionCookie.now) throws -> Bool {
        switch user.proof {
        case nil: return true
        case .token(let end): return end.map { Double(now) < $0 } ?? true
        case .session(_, let end) where now >= end: return false
        case .session(let salt, _), .password(let salt):
            do {
                guard let account = try accounts.find(user.name ?? "", in: databases) else { return false }
                return account.salt == salt && Set(account.roles) == Set(user.roles)
            } catch is HTTPError {
                // Its document is in conflict, so nobody can log in.
                return false
            }
        }
    }

    private func session(_ request: HTTPRequest, _ databases: any DatabaseSource) throws -> User? {
        guard let value = request.headers.cookie(SessionCookie.name), !value.isEmpty else { return nil }
        let content = try SessionCookie.read(value)
        guard let account = try accounts.find(content.name, in: databases),
            cookies.isValid(content, salt: account.salt, secret: administration.secret)
        else { return nil }
        var user = User(
            name: account.name, roles: account.roles, handler: "cookie",
            proof: .session(salt: account.salt, end: cookies.end(of: content)))
        if cookies.needsRenewal(content) {
            user.renewedCookie = cookies(for: request).header(
                account.name, salt: account.salt, secret: administration.secret)
        }
        return user
    }

    private func basic(
        _ request: HTTPRequest, _ login: (String, [UInt8]) throws -> Account?
    ) throws -> User? {
        guard let header = request.headers["Authorization"], header.hasPrefix("Basic ") else { return nil }
        guard let bytes = Base64.decode(header.dropFirst(6).utf8) else {
            throw HTTPError.badRequest("Authorization header has invalid base64 value")
        }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        // Browsers send `_:_` to forget a password.
        guard parts.count == 2, parts != [[UInt8(ascii: "_")], [UInt8(ascii: "_")]] else { return nil }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard let account = try login(name, Array(parts[1])) else { throw HTTPError.wrongPassword }
        return User(
            name: account.name, roles: account.roles, handler: "default", proof: .password(salt: account.salt))
    }

    private func token(_ request: HTTPRequest) throws -> User? {
        try bearer(request).map { try SignedToken(options: $0).user($1) }
    }

    private func bearer(_ request: HTTPRequest) -> (TokenOptions, Substring)? {
        guard let tokens = options.tokens, let header = request.headers["Authorization"],
            header.hasPrefix("Bearer ")
        else { return nil }
        return (tokens, header.dropFirst(7))
    }

    private func proxied(_ request: HTTPRequest) -> User? {
        guard let proxy = options.proxy, let name = request.headers[proxy.nameHeader], !name.isEmpty,
            let code = request.headers[proxy.tokenHeader].flatMap({ Hexadecimal.decode($0) })
        else { return nil }
        let key = Array(proxy.secret.utf8)
        let isProven = [HashFunction.sha256, .sha1].contains { function in
            Secrets.areEqual(function.code(of: Array(name.utf8), key: key), code)
        }
        guard isProven else { return nil }
        let roles = (request.headers[proxy.rolesHeader] ?? "").split(separator: ",").map {
            String($0).trimmingBlanks()
        }
        return User(name: name, roles: roles, handler: "proxy")
    }
}
