internal import SettleDatabase
internal import SettlePlatform

/// Finds out who sends a request: by cookie, password, token, or a proxy's word, the first that says something.
struct Authenticator: Sendable {
    let options: SecurityOptions
    let administration: Administration
    let accounts: Accounts
    let cookies: SessionCookie
    let lockout: LoginLockout

    init(_ options: ServerOptions, administration: Administration, databases: DatabasePool) {
        self.options = options.security
        self.administration = administration
        accounts = Accounts(administration: administration, databases: databases)
        cookies = SessionCookie(options: options.security, isSecure: options.certificate != nil)
        lockout = LoginLockout(
            threshold: options.security.lockoutThreshold, seconds: options.security.lockoutSeconds)
    }

    /// The ways to log in, as `GET /_session` lists them.
    var handlers: [String] {
        (options.proxy == nil ? [] : ["proxy"]) + (options.tokens == nil ? [] : ["jwt"]) + ["cookie", "default"]
    }

    /// Who sends a request.
    ///
    /// - Throws: ``HTTPError`` for credentials that are wrong, or none.
    func user(of request: HTTPRequest) throws -> User {
        try proxied(request) ?? token(request) ?? session(request) ?? basic(request) ?? .anonymous
    }

    /// The account of a name and its password, and of a code where a second factor is needed.
    ///
    /// - Throws: ``HTTPError`` with status 403 when the account is locked, and 503 when too many log in.
    func login(_ name: String, _ password: [UInt8], code: String = "", peer: String) throws -> Account? {
        let account = try accounts.find(name)
        let salt = account?.salt ?? ""
        try lockout.check(peer, name, salt)
        // Asked again when the key is derived: many guesses at once are no more than a few.
        let isRight = try administration.hasher.verify(password, against: account?.password, of: name) {
            try lockout.check(peer, name, salt)
        }
        if isRight, let account, account.secondFactor.accepts(code) { return account }
        lockout.fail(peer, name, salt)
        return nil
    }

    private func session(_ request: HTTPRequest) throws -> User? {
        guard let value = request.headers.cookie(SessionCookie.name), !value.isEmpty else { return nil }
        let content = try SessionCookie.read(value)
        guard let account = try accounts.find(content.name),
            cookies.isValid(content, salt: account.salt, secret: administration.secret)
        else { return nil }
        var user = User(name: account.name, roles: account.roles, handler: "cookie")
        if cookies.needsRenewal(content) {
            user.renewedCookie = cookies.header(account.name, salt: account.salt, secret: administration.secret)
        }
        return user
    }

    private func basic(_ request: HTTPRequest) throws -> User? {
        guard let header = request.headers["Authorization"], header.hasPrefix("Basic ") else { return nil }
        guard let bytes = Base64.decode(header.dropFirst(6).utf8) else {
            throw HTTPError.badRequest("Authorization header has invalid base64 value")
        }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        // `_:_` is what browsers are told to send to forget a password.
        guard parts.count == 2, parts != [[UInt8(ascii: "_")], [UInt8(ascii: "_")]] else { return nil }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard let account = try login(name, Array(parts[1]), peer: request.peer) else {
            throw HTTPError.wrongPassword
        }
        return User(name: account.name, roles: account.roles, handler: "default")
    }

    private func token(_ request: HTTPRequest) throws -> User? {
        guard let tokens = options.tokens, let header = request.headers["Authorization"],
            header.hasPrefix("Bearer ")
        else { return nil }
        try Waiting.check()
        return try SignedToken(options: tokens).user(header.dropFirst(7))
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
