internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform

/// Adds credentials to requests, and gets new ones when a server rejects them.
final class Authorizer: Sendable {
    let credentials: ReplicationCredentials
    private let secret: RenewedSecret?
    private let clock: @Sendable () -> Double
    /// The server's last challenge.
    private let challenge = Guarded<AuthenticationChallenge?>(nil)

    /// - Parameters:
    ///   - credentials: The credentials to add to requests.
    ///   - server: Where `_session` is.
    ///   - client: Sends the session requests.
    ///   - clock: Seconds since 1970.
    init(
        _ credentials: ReplicationCredentials, server: HTTPURL, client: any HTTPTransport,
        clock: @escaping @Sendable () -> Double = { Authorizer.systemTime }
    ) {
        self.credentials = credentials
        self.clock = clock
        switch credentials.kind {
        case .session(let user, let password):
            let login = SessionLogin(server: server, user: user, password: password, client: client)
            secret = RenewedSecret(margin: 15, clock: clock) { try await login.cookie(now: clock()) }
        case .bearer(let source):
            secret = RenewedSecret(margin: 15, clock: clock) {
                let token = try await source()
                return RenewedSecret.Secret(text: token, end: TokenExpiry.end(of: token))
            }
        case .none, .basic, .fixedBearer, .oauth1, .proxy, .cookie, .stored: secret = nil
        }
    }

    /// The system's time in seconds since 1970.
    static var systemTime: Double {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    /// Adds credentials to a request. Returns the secret that the server may reject, if it can be renewed.
    func authorize(_ request: inout TransportRequest) async throws -> String? {
        switch credentials.kind {
        case .none: break
        case .basic(let user, let password): request.headers["Authorization"] = Self.basic(user, password)
        case .stored(let store):
            if let entry = store.entry(for: request.url, challenge.withLock(\.self)) {
                request.headers["Authorization"] = Self.basic(entry.user, entry.password)
            }
        case .cookie(let cookie):
            if let text = cookie.text(now: clock()) {
                request.headers["Cookie"] = "\(SessionCookieParser.name)=\(text)"
            }
        case .fixedBearer(let token): request.headers["Authorization"] = "Bearer \(token)"
        case .session:
            let cookie = try await secret?.text() ?? ""
            request.headers["Cookie"] = "\(SessionCookieParser.name)=\(cookie)"
            return cookie
        case .bearer:
            let token = try await secret?.text() ?? ""
            request.headers["Authorization"] = "Bearer \(token)"
            return token
        case .oauth1(let keys):
            var generator = SystemRandomNumberGenerator()
            let nonce = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
            request.headers["Authorization"] = keys.authorization(
                request.method, request.url, time: Int(clock()), nonce: nonce)
        case .proxy(let user, let roles, let secret):
            request.headers["X-Auth-CouchDB-UserName"] = user
            request.headers["X-Auth-CouchDB-Roles"] = roles.joined(separator: ",")
            if let secret {
                let code = HMAC.sha1(Array(user.utf8), key: Array(secret.utf8))
                request.headers["X-Auth-CouchDB-Token"] = Hexadecimal.encode(code)
            }
        }
        return nil
    }

    private static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    }

    /// Takes a newer cookie from a response. CouchDB sends one when the old one is about to expire.
    func note(_ headers: TransportHeaders) {
        guard let cookie = SessionCookieParser.read(headers, now: clock()) else { return }
        switch credentials.kind {
        case .session: secret?.replace(cookie)
        case .cookie(let held): held.renew(cookie)
        default: break
        }
    }

    /// Discards a rejected secret.
    func forget(_ text: String) { secret?.forget(text) }

    /// Remembers the challenge of a rejected request. Returns whether there are other credentials to answer it.
    func take(_ asked: AuthenticationChallenge, for url: HTTPURL) -> Bool {
        guard case .stored(let store) = credentials.kind else { return false }
        let before = challenge.withLock { challenge in
            defer { challenge = asked }
            return challenge
        }
        let entry = store.entry(for: url, asked)
        return entry != nil && entry != store.entry(for: url, before)
    }

    /// The credentials that were sent to an address, for the error message of a rejected request.
    func tried(at url: HTTPURL) -> String {
        guard case .stored(let store) = credentials.kind else { return credentials.description }
        let asked = challenge.withLock(\.self)
        guard let entry = store.entry(for: url, asked) else { return store.mismatch(for: url, asked) }
        return ReplicationCredentials.basic(user: entry.user, password: "").description
    }
}

/// A login to CouchDB.
struct SessionLogin: Sendable {
    let server: HTTPURL
    let user: String
    let password: String
    let client: any HTTPTransport

    /// Logs in.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: The session's cookie.
    /// - Throws: ``CouchDBError`` if the server refuses, ``TransportError`` if it can't be reached.
    func cookie(now: Double) async throws -> RenewedSecret.Secret {
        let body: JSONValue = ["name": .string(user), "password": .string(password)]
        let request = TransportRequest(
            "POST", server.appending("_session"),
            headers: ["Content-Type": "application/json", "Accept": "application/json"], body: .bytes(body.utf8))
        let response = try await client.send(request)
        let tried = ReplicationCredentials.session(user: user, password: "").description
        guard response.status < 300 else {
            throw try await CouchDBError(reading: response, of: request, tried: tried)
        }
        _ = try await response.collect(limit: 64 * 1024)
        guard let cookie = SessionCookieParser.read(response.headers, now: now) else {
            throw CouchDBError(
                status: response.status, error: "no_session", reason: "the login was answered without a cookie",
                method: request.method, path: request.url.path, retryAfter: nil, tried: tried)
        }
        return cookie
    }
}
