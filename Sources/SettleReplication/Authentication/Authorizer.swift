internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettleHTTP
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
    ///   - server: The URL of the server, which has `_session`.
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
    func authorize(_ request: inout HTTPRequest) async throws -> String? {
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

    /// Replaces the cookie by a newer one from a response. CouchDB sends one when the old one is about to expire.
    func adoptCookie(_ headers: HTTPHeaders) {
        guard let cookie = SessionCookieParser.read(headers, now: clock()) else { return }
        switch credentials.kind {
        case .session: secret?.replace(cookie)
        case .cookie(let held): held.renew(cookie)
        default: break
        }
    }

    /// Discards a rejected secret.
    func forget(_ text: String) { secret?.forget(text) }

    /// Stores the challenge of a rejected request. Returns whether there are other credentials to answer it.
    func adopt(_ asked: AuthenticationChallenge, for url: HTTPURL) -> Bool {
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
        let request = HTTPRequest(
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

// MARK: - RenewedSecret

/// A secret that expires: a session cookie or a token. Concurrent requests share one renewal.
final class RenewedSecret: Sendable {
    /// A secret and when it expires, in seconds since 1970; `nil` if unknown.
    struct Secret: Sendable {
        let text: String
        let end: Double?
    }

    private struct State {
        var secret: Secret?
        /// The renewal in progress.
        var making: Task<Void, Never>?
        /// The number of the newest renewal.
        var renewal = 0
        /// The requests that wait for the renewal.
        var waiting: [Int: Promise<Result<Secret, any Error>>] = [:]
        /// The number of the last request that had to wait.
        var lastRequest = 0
    }

    private let state = Guarded(State())
    private let clock: @Sendable () -> Double
    private let make: @Sendable () async throws -> Secret
    /// The time before its expiry at which a secret is renewed, in seconds.
    private let margin: Double

    init(
        margin: Double, clock: @escaping @Sendable () -> Double, make: @escaping @Sendable () async throws -> Secret
    ) {
        self.margin = margin
        self.clock = clock
        self.make = make
    }

    /// The secret; renewed if it is missing or about to expire. A cancelled task does not wait for the renewal.
    func text() async throws -> String {
        let answer = Promise<Result<Secret, any Error>>()
        let (secret, number) = state.withLock { state -> (Secret?, Int) in
            if let secret = state.secret, isFresh(secret) { return (secret, 0) }
            state.lastRequest += 1
            state.waiting[state.lastRequest] = answer
            if state.making == nil {
                state.renewal += 1
                let renewal = state.renewal
                state.making = Task { await renew(renewal) }
            }
            return (nil, state.lastRequest)
        }
        if let secret { return secret.text }
        let result = await answer.get(ifCancelled: .failure(CancellationError()))
        endWait(of: number)
        return try result.get().text
    }

    /// Ends the wait of a request. If no other request waits, the renewal is cancelled, and the next request begins
    /// another one.
    private func endWait(of number: Int) {
        let making = state.withLock { state -> Task<Void, Never>? in
            guard state.waiting.removeValue(forKey: number) != nil, state.waiting.isEmpty else { return nil }
            defer { state.making = nil }
            return state.making
        }
        making?.cancel()
    }

    private func renew(_ number: Int) async {
        let result: Result<Secret, any Error>
        do { result = .success(try await make()) } catch { result = .failure(error) }
        let waiting = state.withLock { state -> [Promise<Result<Secret, any Error>>] in
            // If it was cancelled, another renewal may be in progress.
            guard state.renewal == number else { return [] }
            let made = try? result.get()
            guard state.making != nil else {
                // It has succeeded although no request waits; the next one can use the secret.
                if let made, state.secret.map(isFresh) != true { state.secret = made }
                return []
            }
            state.making = nil
            state.secret = made
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for answer in waiting { answer.fulfil(result) }
    }

    /// Replaces the secret by one that the server sent unasked.
    func replace(_ secret: Secret) { state.withLock { $0.secret = secret } }

    /// Discards a rejected secret, if it is still the one in use.
    func forget(_ text: String) { state.withLock { if $0.secret?.text == text { $0.secret = nil } } }

    private func isFresh(_ secret: Secret) -> Bool {
        guard let end = secret.end else { return true }
        return clock() < end - margin
    }
}

// MARK: - SessionCookieParser

/// The cookie of a CouchDB session.
enum SessionCookieParser {
    static let name = "AuthSession"

    /// The cookie that a response sets, with its expiry from `Max-Age` or `Expires`; `nil` if it sets none.
    static func read(_ headers: HTTPHeaders, now: Double) -> RenewedSecret.Secret? {
        for field in headers.all("Set-Cookie") {
            let parts = field.split(separator: ";").map { part in
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let value = pair.count > 1 ? String(pair[1]) : ""
                return (name: String(pair[0].drop { $0 == " " }), value: value)
            }
            guard let first = parts.first, first.name == name, !first.value.isEmpty else { continue }
            let attribute = { (wanted: String) in parts.dropFirst().first { $0.name.lowercased() == wanted }?.value }
            let end = attribute("max-age").flatMap { Double($0) }.map { now + $0 }
            let expiry = attribute("expires").flatMap { HTTPDate.seconds(of: $0) }
            return RenewedSecret.Secret(text: first.value, end: end ?? expiry)
        }
        return nil
    }
}

// MARK: - TokenExpiry

/// The time at which a token expires.
enum TokenExpiry {
    /// The `exp` of a JWT in seconds since 1970; `nil` for text that is not a JWT, and for a JWT without
    /// `exp`. Nothing is verified: the server that accepts the token does that.
    static func end(of token: String) -> Double? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        guard let bytes = Base64.decode(text.utf8), let claims = try? JSONValue(utf8: bytes) else { return nil }
        return claims["exp"]?.double
    }
}

// MARK: - AuthenticationChallenge

/// How a server asks for credentials: `WWW-Authenticate: Basic realm="notes"`.
struct AuthenticationChallenge: Sendable, Equatable {
    static let basic = "basic"

    /// The scheme in lower case.
    let method: String
    /// The name of the protected area.
    let realm: String?

    /// Whether the server asks for a user and a password.
    var isBasic: Bool { method == Self.basic }

    /// Reads a response's challenge, preferring a basic one; `nil` if it has none.
    init?(_ headers: HTTPHeaders) {
        let all = headers.all("WWW-Authenticate").map { AuthenticationChallenge(field: $0) }
        guard let challenge = all.first(where: \.isBasic) ?? all.first else { return nil }
        self = challenge
    }

    private init(field: String) {
        let word = field.prefix { $0 != " " }
        method = word.lowercased()
        let rest = field[word.endIndex...]
        realm = rest.firstRange(of: "realm=\"").map { String(rest[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}
