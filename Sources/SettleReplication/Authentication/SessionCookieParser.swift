internal import SettlePlatform

/// The cookie of a CouchDB session.
enum SessionCookieParser {
    static let name = "AuthSession"

    /// The cookie that a response sets, with its expiry from `Max-Age` or `Expires`; `nil` if it sets none.
    static func read(_ headers: TransportHeaders, now: Double) -> RenewedSecret.Secret? {
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
