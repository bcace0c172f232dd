internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A cookie that says that a password was verified, so that a client which sends name and password with each request needs no
/// derivation after a restart, nor on another node.
///
///     AuthTicket=base64(time : HMAC(secret of the server, time, name, password, stored hash and salt))
///
/// It counts only together with the password. So a page of another origin, or a thief of the cookie, gains nothing by it. A new
/// password, which has another salt, ends it. The secret is in the server's settings, which all nodes of a store share.
struct PasswordTicket: Sendable {
    static let name = "AuthTicket"
    /// How long a ticket is valid, in seconds.
    let lifetime: Int
    private static let length = 32

    /// The credentials that a ticket is about.
    struct Credentials: Sendable {
        let name: String
        let password: [UInt8]
        let hash: PasswordHash
    }

    /// The age of a ticket in seconds; `nil` if it does not count for these credentials.
    func age(
        _ value: String, _ credentials: Credentials, secret: [UInt8], now: Int = SessionCookie.now
    ) -> Int? {
        guard value.utf8.count <= 200, let bytes = Base64.decodeFromURL(value), bytes.count > Self.length + 1,
            bytes[bytes.count - Self.length - 1] == UInt8(ascii: ":"),
            let time = Int(String(decoding: bytes.dropLast(Self.length + 1), as: UTF8.self), radix: 16),
            (0...1 << 40).contains(time), time <= now + 60, now < time + lifetime,
            Secrets.areEqual(Self.code(time, credentials, secret), Array(bytes.suffix(Self.length)))
        else { return nil }
        return max(now - time, 0)
    }

    /// A new ticket.
    func value(_ credentials: Credentials, secret: [UInt8], now: Int = SessionCookie.now) -> String {
        let time = Array(String(now, radix: 16).utf8)
        return Base64.encodeForURL(time + [UInt8(ascii: ":")] + Self.code(now, credentials, secret))
    }

    /// Whether a ticket of this age should be replaced.
    func needsRenewal(_ age: Int) -> Bool { age > lifetime / 2 }

    private static func code(_ time: Int, _ credentials: Credentials, _ secret: [UInt8]) -> [UInt8] {
        let message = VerifiedPasswords.message(credentials.password, credentials.hash, credentials.name)
        return HashFunction.sha256.code(of: Array("ticket:\(time):".utf8) + message, key: secret)
    }
}
