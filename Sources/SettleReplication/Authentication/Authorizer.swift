internal import RevisionTree
internal import SettleDatabase

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Puts credentials on requests, and makes new ones when a server refuses them.
final class Authorizer: Sendable {
    let credentials: Credentials
    private let secret: RenewedSecret?
    private let clock: @Sendable () -> Double

    /// - Parameters:
    ///   - credentials: What to put on requests.
    ///   - server: Where `_session` is.
    ///   - client: Who asks for sessions.
    ///   - clock: Seconds since 1970.
    init(
        _ credentials: Credentials, server: HTTPURL, client: any HTTPClient,
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
        case .none, .basic, .fixedBearer, .oauth1, .proxy: secret = nil
        }
    }

    /// Seconds since 1970 by the system's clock.
    static var systemTime: Double {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    /// Puts credentials on a request; returns the secret that may be refused, if there is one that can be made again.
    func authorize(_ request: inout HTTPClientRequest) async throws -> String? {
        switch credentials.kind {
        case .none: break
        case .basic(let user, let password):
            request.headers["Authorization"] = "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
        case .fixedBearer(let token): request.headers["Authorization"] = "Bearer \(token)"
        case .session:
            let cookie = try await secret?.text() ?? ""
            request.headers["Cookie"] = "\(SessionCookie.name)=\(cookie)"
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
                let code = KeyedHash.sha1.code(of: Array(user.utf8), key: Array(secret.utf8))
                request.headers["X-Auth-CouchDB-Token"] = KeyedHash.hexadecimal(code)
            }
        }
        return nil
    }

    /// Looks whether an answer brings a newer cookie, as CouchDB's do when the old one is about to run out.
    func note(_ headers: HTTPClientHeaders) {
        guard case .session = credentials.kind, let cookie = SessionCookie.read(headers, now: clock()) else { return }
        secret?.replace(cookie)
    }

    /// Forgets a secret that was refused.
    func forget(_ text: String) { secret?.forget(text) }
}
