internal import SettleDatabase
internal import SettlePlatform

/// A session's cookie that the app got by itself, by a page for logins for example, and may change at any time.
///
///     let cookie = HeldCookie("YW5uYTo2NT…", end: 1_700_000_600)
///     let peer = try CouchDBPeer(url, credentials: .cookie(cookie))
///     cookie.set("YW5uYTo2Ng…")     // the next request of a running replication has this one
///
/// It is sent as `AuthSession` until its end. A newer one that the server sends by itself takes its place.
public final class HeldCookie: Sendable {
    private let state: Guarded<RenewedSecret.Secret?>

    /// Makes one.
    ///
    /// - Parameters:
    ///   - text: The cookie's value; `nil` for none so far.
    ///   - end: When it runs out, in seconds since 1970; `nil` when nobody knows.
    public init(_ text: String? = nil, end: Double? = nil) {
        state = Guarded(text.map { RenewedSecret.Secret(text: $0, end: end) })
    }

    /// Sets another cookie, from the next request on.
    ///
    /// - Parameters:
    ///   - text: The cookie's value.
    ///   - end: When it runs out, in seconds since 1970; `nil` when nobody knows.
    public func set(_ text: String, end: Double? = nil) {
        state.withLock { $0 = RenewedSecret.Secret(text: text, end: end) }
    }

    /// Deletes the cookie: from the next request on none is sent.
    public func delete() { state.withLock { $0 = nil } }

    /// The cookie, until it runs out.
    func text(now: Double) -> String? {
        state.withLock { secret in
            guard let held = secret else { return nil }
            if let end = held.end, end <= now { secret = nil }
            return secret?.text
        }
    }

    /// Takes a newer cookie of the server, unless it was deleted meanwhile.
    func renew(_ newer: RenewedSecret.Secret) { state.withLock { if $0 != nil { $0 = newer } } }
}

extension HeldCookie: CustomStringConvertible, CustomReflectable {
    /// What it is, without its value.
    public var description: String { "a cookie of the app" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description], displayStyle: .class) }
}
