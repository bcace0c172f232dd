internal import SettleDatabase
internal import SettlePlatform

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
    ///   - text: The cookie's value; `nil` if there is none yet.
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

    /// Takes a newer cookie from the server, unless the app deleted the cookie meanwhile.
    func renew(_ newer: RenewedSecret.Secret) { state.withLock { if $0 != nil { $0 = newer } } }
}

extension HeldCookie: CustomStringConvertible, CustomReflectable {
    /// A description without the cookie's value.
    public var description: String { "a cookie of the app" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description], displayStyle: .class) }
}
