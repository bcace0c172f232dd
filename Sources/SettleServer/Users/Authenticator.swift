internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Authenticates requests by cookie, password, token, or a trusted proxy's headers, in this order.
struct Authenticator: Sendable {
    let options: SecurityOptions
    let administration: Administration
    let accounts: Accounts
    private let databases: DatabasePool
    let cookies: SessionCookie
    let lockout: LoginLockout
    private let tickets: PasswordTicket
    /// The threads on which requests continue after their password was verified.
    private let afterLogin: WorkerPool

    init(
        _ options: ServerOptions, administration: Administration, databases: DatabasePool, afterLogin: WorkerPool
    ) {
        self.options = options.security
        self.administration = administration
        self.afterLogin = afterLogin
        self.databases = databases
        accounts = Accounts(
            administration: administration, known: databases.isShared ? UserDocuments() : nil)
        cookies = SessionCookie(options: options.security, isSecure: options.certificate != nil)
        tickets = PasswordTicket(lifetime: options.security.ticketLifetime.wholeSeconds)
        lockout = LoginLockout(
            threshold: options.security.lockoutThreshold, seconds: options.security.lockout.inSeconds)
    }

    /// The enabled authentication handlers, as `GET /_session` lists them.
    var handlers: [String] {
        (options.proxy == nil ? [] : ["proxy"]) + (options.tokens == nil ? [] : ["jwt"]) + ["cookie", "default"]
    }

    /// The attributes of cookies for a request's client. They have `Secure` only if the client uses an encrypted
    /// connection.
    func cookies(for request: ServerRequest) -> SessionCookie { cookies(isSecure: request.route.isSecure) }

    private func cookies(isSecure: Bool) -> SessionCookie {
        var cookies = cookies
        cookies.isSecure = cookies.isSecure || isSecure
        return cookies
    }

    /// Authenticates a request.
    ///
    /// - Throws: ``HTTPError`` for wrong or malformed credentials; ``PendingLogin`` if a password has to be
    ///   verified by ``finish(_:_:)`` first, which takes time.
    func user(of request: ServerRequest) throws -> User {
        if let user = try proxied(request) ?? token(request) ?? session(request, databases) { return user }
        guard let (name, password) = try passwordCredentials(request) else { return .anonymous }
        let login = PendingLogin(
            name: name, password: password, account: try accounts.find(name, in: databases), peer: request.peer,
            isEncrypted: request.route.isSecure)
        try lockout.check(login.peer, name, login.salt)
        if let user = userAtHand(login, request) { return user }
        throw login
    }

    /// The user of a request, if that can be found without waiting: no key is derived, and no token's signature is
    /// verified.
    ///
    /// - Throws: ``HTTPError`` for wrong or malformed credentials; ``NotAtHand``.
    func userAtHand(of request: ServerRequest) throws -> User {
        let databases = PromptDatabases(databases)
        if let known = proxied(request) { return known }
        guard bearer(request) == nil else { throw NotAtHand() }
        if let user = try session(request, databases) { return user }
        guard let (name, password) = try passwordCredentials(request) else { return .anonymous }
        let login = PendingLogin(
            name: name, password: password, account: try accounts.find(name, in: databases), peer: request.peer,
            isEncrypted: request.route.isSecure)
        guard let user = userAtHand(login, request) else { throw NotAtHand() }
        try lockout.check(login.peer, name, login.salt)
        return user
    }

    /// The user of a login whose password was verified recently, or longer ago if the login has a
    /// ``PasswordTicket``.
    private func userAtHand(_ login: PendingLogin, _ request: ServerRequest) -> User? {
        guard let account = login.account, let hash = account.password, account.secondFactor.accepts("") else {
            return nil
        }
        let hasher = administration.hasher
        let isRemembered = hasher.remembers(login.password, hash, login.name)
        let credentials = PasswordTicket.Credentials(name: login.name, password: login.password, hash: hash)
        let age = request.headers.cookie(PasswordTicket.name).flatMap {
            tickets.age($0, credentials, secret: administration.secret)
        }
        guard isRemembered || age != nil else { return nil }
        if !isRemembered { hasher.remember(login.password, hash, login.name) }
        var user = login.user(account)
        if let age, tickets.needsRenewal(age) { user.renewedCookie = ticket(credentials, login) }
        return user
    }

    /// Verifies the password of a login.
    ///
    /// - Parameters:
    ///   - login: The login.
    ///   - done: Gets the user, or an ``HTTPError``: status 401 for a wrong password, 403 if the account is locked,
    ///     503 if too many logins wait. It may block, because it runs on a thread for continued requests.
    func finish(_ login: PendingLogin, _ done: @escaping @Sendable (Result<User, any Error>) -> Void) {
        verify(login) { result in
            done(
                Result {
                    guard let account = try result.get() else { throw HTTPError.wrongPassword }
                    var user = login.user(account)
                    if let hash = account.password {
                        user.renewedCookie = ticket(
                            PasswordTicket.Credentials(name: login.name, password: login.password, hash: hash), login)
                    }
                    return user
                })
        }
    }

    /// Finds the account for a name and a password, and for a code if it has a second factor.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - password: The password.
    ///   - code: The code.
    ///   - peer: The address of the client.
    ///   - done: Gets the account; `nil` for a wrong name or password; or an ``HTTPError``: status 403 if the
    ///     account is locked, and 503 if too many logins wait. It may block, because it runs on a thread for
    ///     continued requests, or on the caller's thread.
    func login(
        _ name: String, _ password: [UInt8], code: String = "", peer: String,
        _ done: @escaping @Sendable (Result<Account?, any Error>) -> Void
    ) {
        do {
            let login = PendingLogin(
                name: name, password: password, account: try accounts.find(name, in: databases), peer: peer)
            try lockout.check(peer, name, login.salt)
            verify(login, code: code, done)
        } catch { done(.failure(error)) }
    }

    private func verify(
        _ login: PendingLogin, code: String = "", _ done: @escaping @Sendable (Result<Account?, any Error>) -> Void
    ) {
        let (peer, name, salt) = (login.peer, login.name, login.salt)
        let seat = PasswordHasher.Seat(address: peer, name: name, isKnown: login.account?.password != nil)
        // The lock-out is checked again when the key is derived and after it, so that concurrent guesses stay
        // within the limit.
        administration.hasher.verify(
            login.password, against: login.account?.password, seat,
            precheck: { [lockout] in try lockout.check(peer, name, salt) },
            taker: { [lockout, afterLogin] result in
                let verified = Result<Account?, any Error> {
                    let isRight = try result.get()
                    try lockout.check(peer, name, salt)
                    if isRight, let account = login.account, account.secondFactor.accepts(code) { return account }
                    lockout.fail(peer, name, salt)
                    return nil
                }
                // Threads that derive keys don't wait for the database, to which the use of a code is written.
                afterLogin.submit(for: peer) {
                    done(
                        Result {
                            guard let account = try verified.get() else { return nil }
                            if try use(code, of: account) { return account }
                            lockout.fail(peer, name, salt)
                            return nil
                        })
                }
            })
    }

    private func ticket(_ credentials: PasswordTicket.Credentials, _ login: PendingLogin) -> String? {
        guard tickets.lifetime > 0 else { return nil }
        let value = tickets.value(credentials, secret: administration.secret)
        return cookies(isSecure: login.isEncrypted).header(PasswordTicket.name, value, lasting: tickets.lifetime)
    }

    /// Marks a valid code as used; returns whether it was unused. A TOTP code opens an account only once (RFC 6238,
    /// section 5.2).
    ///
    /// A local document of `_users` stores the half minute of the last used code. So a code is used up on every
    /// node, and after a restart.
    ///
    /// - Throws: ``DatabaseError`` if that document can't be read or written.
    private func use(_ code: String, of account: Account) throws -> Bool {
        guard case .code(let codes) = account.secondFactor else { return true }
        guard let step = codes.step(of: code) else { return false }
        let users = try databases.open("_users")
        let id = DocumentID(unchecked: "_local/totp/" + account.name)
        let before = try users.localDocument(id)
        guard step > before?.body["step"]?.int ?? -1 else { return false }
        do {
            _ = try users.saveLocalDocument(id, body: ["step": .number(JSONNumber(step))], expecting: before?.revision)
            return true
        } catch let error as DatabaseError where error.code == .conflict {
            // Another login has just used a code.
            return false
        }
    }

    /// The reason why an authenticated user would no longer be authenticated, or would have other roles; `nil` if
    /// nothing has changed.
    ///
    /// - Throws: ``DatabaseError`` if `_users` can't be read.
    func end(of user: User, now: Int = SessionCookie.now) throws -> String? {
        switch user.proof {
        case nil: return nil
        case .token(let end): return end.map { Double(now) < $0 } ?? true ? nil : "The token has expired."
        case .session(_, let end) where now >= end: return "The session has expired."
        case .session(let salt, _), .password(let salt):
            do {
                guard let account = try accounts.find(user.name ?? "", in: databases) else {
                    return "The account was deleted."
                }
                guard account.salt == salt else { return "The password was changed." }
                let (now, before) = (account.roles.map(ExactText.init), user.roles.map(ExactText.init))
                return Set(now) == Set(before) ? nil : "The roles of the account were changed."
            } catch let error as HTTPError {
                // The account's document has a conflict, so its user can't log in.
                return error.reason
            }
        }
    }

    private func session(_ request: ServerRequest, _ databases: any DatabaseSource) throws -> User? {
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

    /// The name and the password of a request, if it has any.
    private func passwordCredentials(_ request: ServerRequest) throws -> (name: String, password: [UInt8])? {
        guard let header = request.headers["Authorization"], header.hasPrefix("Basic ") else { return nil }
        guard let bytes = Base64.decode(header.dropFirst(6).utf8) else {
            throw HTTPError.badRequest("Authorization header has invalid base64 value")
        }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        // Browsers send `_:_` to forget a password.
        guard parts.count == 2, parts != [[UInt8(ascii: "_")], [UInt8(ascii: "_")]] else { return nil }
        return (String(decoding: parts[0], as: UTF8.self), Array(parts[1]))
    }

    private func token(_ request: ServerRequest) throws -> User? {
        try bearer(request).map { try SignedToken(options: $0).user($1) }
    }

    private func bearer(_ request: ServerRequest) -> (TokenOptions, Substring)? {
        guard let tokens = options.tokens, let header = request.headers["Authorization"],
            header.hasPrefix("Bearer ")
        else { return nil }
        return (tokens, header.dropFirst(7))
    }

    private func proxied(_ request: ServerRequest) -> User? {
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

/// A login whose password has to be verified, which takes time.
struct PendingLogin: Error {
    let name: String
    let password: [UInt8]
    let account: Account?
    /// The address of the client.
    let peer: String
    /// Whether the client uses TLS.
    var isEncrypted = false

    fileprivate var salt: String { account?.salt ?? "" }

    /// The user, after the password was verified.
    fileprivate func user(_ account: Account) -> User {
        User(name: account.name, roles: account.roles, handler: "default", proof: .password(salt: account.salt))
    }
}

// MARK: - LoginLockout

/// Counts failed logins, and locks an account for the client's address.
/// As in CouchDB 3.5, failures are counted per address, name and salt of the account: a stranger can't lock an account for
/// others, and a new password unlocks it.
final class LoginLockout: Sendable {
    private struct Key: Hashable {
        let peer: ExactText
        let name: ExactText
        let salt: ExactText

        init(_ peer: String, _ name: String, _ salt: String) {
            (self.peer, self.name, self.salt) = (ExactText(peer), ExactText(name), ExactText(salt))
        }
    }

    private struct Failures {
        var count = 0
        var expiry: ContinuousClock.Instant
    }

    private let state = Guarded<[Key: Failures]>([:])
    private let threshold: Int
    private let lifetime: Duration
    private static let capacity = 10_000

    /// - Parameters:
    ///   - threshold: The number of failures that lock an account; 0 disables the lock-out.
    ///   - seconds: The time that a failure counts.
    init(threshold: Int, seconds: Double) {
        self.threshold = threshold
        lifetime = .seconds(min(max(seconds, 0), 1e9))
    }

    /// Checks that an account is not locked.
    ///
    /// - Throws: ``HTTPError`` with status 403.
    func check(_ peer: String, _ name: String, _ salt: String) throws {
        let isLocked = state.withLock { state in
            guard !state.isEmpty else { return false }
            let key = Key(peer, name, salt)
            guard let failures = state[key], failures.expiry > .now else { return false }
            return failures.count >= threshold
        }
        if isLocked, threshold > 0 {
            throw HTTPError.forbidden("Account is temporarily locked due to multiple authentication failures")
        }
    }

    /// Counts a failed login.
    func fail(_ peer: String, _ name: String, _ salt: String) {
        guard threshold > 0 else { return }
        let key = Key(peer, name, salt)
        state.withLock { state in
            let now = ContinuousClock.Instant.now
            if state.count >= Self.capacity, state[key] == nil {
                state = state.filter { $0.value.expiry > now }
                if state.count >= Self.capacity, let oldest = state.min(by: { $0.value.expiry < $1.value.expiry }) {
                    state[oldest.key] = nil
                }
            }
            var failures = state[key] ?? Failures(expiry: now)
            if failures.expiry <= now { failures.count = 0 }
            failures.count += 1
            failures.expiry = now + lifetime
            state[key] = failures
        }
    }
}
