internal import SettleDatabase
internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The cookie `AuthSession` in CouchDB's form: name, time and their HMAC, which only this server can compute.
struct SessionCookie: Sendable {
    static let name = "AuthSession"
    let options: SecurityOptions
    var isSecure: Bool

    /// The content of a cookie.
    struct Content: Sendable {
        let name: String
        /// The time of issue, in seconds.
        let time: Int
        fileprivate let signed: [UInt8]
        fileprivate let code: [UInt8]
    }

    /// Reads a cookie's value.
    ///
    /// - Throws: ``HTTPError`` with status 400 for invalid input.
    static func read(_ value: String) throws -> Content {
        let parts = Base64.decodeFromURL(value)?.split(
            separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard let parts, parts.count == 3, let name = String(validating: parts[0], as: UTF8.self) else {
            throw HTTPError.badRequest("Malformed AuthSession cookie. Please clear your cookies.")
        }
        let given = Int(String(decoding: parts[1], as: UTF8.self), radix: 16) ?? 0
        // An impossible time counts as expired, so that arithmetic can't overflow.
        let time = (0...1 << 40).contains(given) ? given : 0
        return Content(
            name: name, time: time, signed: parts[0] + [UInt8(ascii: ":")] + parts[1], code: Array(parts[2]))
    }

    /// Whether this server issued the cookie for this account and the cookie has not expired.
    func isValid(_ content: Content, salt: String, secret: [UInt8], now: Int = SessionCookie.now) -> Bool {
        let expected = HashFunction.sha256.code(of: content.signed, key: secret + Array(salt.utf8))
        return Secrets.areEqual(expected, content.code) && content.time <= now + 60
            && now < end(of: content)
    }

    /// The time at which the session of a cookie ends, in seconds.
    func end(of content: Content) -> Int { content.time + timeout }

    /// Whether the cookie expires soon, so that a new one should be sent.
    func needsRenewal(_ content: Content, now: Int = SessionCookie.now) -> Bool {
        Double(end(of: content) - now) < Double(timeout) * 0.9
    }

    /// The value of the header `Set-Cookie` for a new session.
    func header(_ name: String, salt: String, secret: [UInt8], now: Int = SessionCookie.now) -> String {
        let signed = Array("\(name):\(String(now, radix: 16, uppercase: true))".utf8)
        let code = HashFunction.sha256.code(of: signed, key: secret + Array(salt.utf8))
        return header(
            Self.name, Base64.encodeForURL(signed + [UInt8(ascii: ":")] + code), lasting: timeout, now: now)
    }

    /// The value of the header `Set-Cookie` that ends a session.
    func cleared(now: Int = SessionCookie.now) -> String { header(Self.name, "", lasting: timeout, now: now) }

    private var timeout: Int { options.sessionTimeout.wholeSeconds }

    /// The current time in seconds.
    static var now: Int { WallTime.now().seconds }

    /// The value of the header `Set-Cookie` for another cookie with the same attributes.
    func header(_ name: String, _ value: String, lasting seconds: Int, now: Int = SessionCookie.now) -> String {
        var text = "\(name)=\(value); Version=1"
        if options.hasPersistentCookies {
            let expiry = WallTime(seconds: now + seconds)
            text += "; Expires=\(expiry.cookie); Max-Age=\(seconds)"
        }
        text += "; Path=/"
        if isSecure { text += "; Secure" }
        text += "; HttpOnly"
        if let domain = options.cookieDomain { text += "; Domain=\(domain)" }
        if let sameSite = options.sameSite { text += "; SameSite=\(sameSite.rawValue)" }
        return text
    }
}
