internal import SettleDatabase
internal import SettlePlatform

/// The credentials with which requests authenticate.
///
///     .basic(user: "anna", password: secret)       // sent with each request
///     .session(user: "anna", password: secret)     // a login, then a cookie that is renewed automatically
///     .bearer { try await identity.token() }       // asked again when the token runs out
///
/// Printed or dumped credentials show the kind and the user, and no secret.
public struct ReplicationCredentials: Sendable {
    /// Creates a token. It is called when there is no token yet, when the last one has expired, and once when a
    /// server rejects a token.
    public typealias TokenSource = @Sendable () async throws -> String

    enum Kind: Sendable {
        case none
        case basic(user: String, password: String)
        case session(user: String, password: String)
        case bearer(TokenSource)
        case fixedBearer(String)
        case oauth1(OAuth1)
        case proxy(user: String, roles: [String], secret: String?)
        case cookie(HeldCookie)
        case stored(CredentialStore)
    }

    let kind: Kind

    /// No authentication.
    public static let none = ReplicationCredentials(kind: .none)

    /// A user with a password, sent with each request. The server checks the password each time.
    public static func basic(user: String, password: String) -> ReplicationCredentials {
        ReplicationCredentials(kind: .basic(user: user, password: password))
    }

    /// A user with a password, sent once to `_session` for a cookie.
    ///
    /// The cookie stays in memory. It is renewed before it expires, and once when a server rejects it. Concurrent
    /// requests share one login.
    public static func session(user: String, password: String) -> ReplicationCredentials {
        ReplicationCredentials(kind: .session(user: user, password: password))
    }

    /// A fixed token.
    public static func bearer(_ token: String) -> ReplicationCredentials {
        ReplicationCredentials(kind: .fixedBearer(token))
    }

    /// Tokens that expire. A JWT is renewed shortly before its `exp`.
    public static func bearer(_ source: @escaping TokenSource) -> ReplicationCredentials {
        ReplicationCredentials(kind: .bearer(source))
    }

    /// Requests signed by OAuth 1 (RFC 5849).
    public static func oauth1(_ keys: OAuth1) -> ReplicationCredentials { ReplicationCredentials(kind: .oauth1(keys)) }

    /// A user whom this client vouches for with the headers `X-Auth-CouchDB-…`, like a proxy in front of CouchDB.
    ///
    /// - Parameters:
    ///   - user: The user's name.
    ///   - roles: The user's roles.
    ///   - secret: The secret shared with the server, used for an HMAC-SHA-1; `nil` if the server requires none.
    /// - Returns: The credentials.
    public static func proxy(user: String, roles: [String], secret: String?) -> ReplicationCredentials {
        ReplicationCredentials(kind: .proxy(user: user, roles: roles, secret: secret))
    }

    /// A session cookie that the app obtained and may change while a replication runs.
    public static func cookie(_ cookie: HeldCookie) -> ReplicationCredentials {
        ReplicationCredentials(kind: .cookie(cookie))
    }

    /// Users and passwords by server and realm.
    public static func stored(_ store: CredentialStore) -> ReplicationCredentials {
        ReplicationCredentials(kind: .stored(store))
    }

    /// Whether an eavesdropper can reuse these credentials for other requests.
    var areReadable: Bool {
        switch kind {
        case .none, .oauth1: false
        case .basic, .session, .bearer, .fixedBearer, .proxy, .cookie: true
        case .stored(let store): !store.isEmpty
        }
    }
}

extension ReplicationCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind and the user, as in `basic authentication as 'anna'`.
    public var description: String {
        switch kind {
        case .none: "no authentication"
        case .basic(let user, _): "basic authentication as '\(user)'"
        case .session(let user, _): "a session of '\(user)'"
        case .bearer, .fixedBearer: "a bearer token"
        case .oauth1(let keys): keys.description
        case .proxy(let user, _, _): "proxy authentication as '\(user)'"
        case .cookie: "a cookie of the app"
        case .stored: "stored credentials"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The kind and the user.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .struct) }
}

// MARK: - HeldCookie

/// A session cookie that the app obtained, from a login page for example, and may change at any time.
///
///     let cookie = HeldCookie("YW5uYTo2NT…", end: 1_700_000_600)
///     let peer = try CouchDBPeer(url, credentials: .cookie(cookie))
///     cookie.set("YW5uYTo2Ng…")     // the next request of a running replication has this one
///
/// The cookie is sent as `AuthSession` until it expires. A newer cookie sent by the server replaces it.
public final class HeldCookie: Sendable {
    private let state: Guarded<RenewedSecret.Secret?>

    /// Creates a cookie.
    ///
    /// - Parameters:
    ///   - text: The cookie's value; `nil` before the first one is set.
    ///   - end: When the cookie expires, in seconds since 1970; `nil` if unknown.
    public init(_ text: String? = nil, end: Double? = nil) {
        state = Guarded(text.map { RenewedSecret.Secret(text: $0, end: end) })
    }

    /// Replaces the cookie, from the next request on.
    ///
    /// - Parameters:
    ///   - text: The cookie's value.
    ///   - end: When the cookie expires, in seconds since 1970; `nil` if unknown.
    public func set(_ text: String, end: Double? = nil) {
        state.withLock { $0 = RenewedSecret.Secret(text: text, end: end) }
    }

    /// Deletes the cookie: the next request is sent without one.
    public func delete() { state.withLock { $0 = nil } }

    /// The cookie, until it expires.
    func text(now: Double) -> String? {
        state.withLock { secret in
            guard let held = secret else { return nil }
            if let end = held.end, end <= now { secret = nil }
            return secret?.text
        }
    }

    /// Replaces the cookie by a newer one from the server, unless the app has deleted the cookie meanwhile.
    func renew(_ newer: RenewedSecret.Secret) { state.withLock { if $0 != nil { $0 = newer } } }
}

extension HeldCookie: CustomStringConvertible, CustomReflectable {
    /// A description without the cookie's value.
    public var description: String { "a cookie of the app" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description], displayStyle: .class) }
}
