internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// The keys of OAuth 1 (RFC 5849), and the signatures they make.
///
/// A signature covers the method, the address with its query and a nonce; it does not cover the body.
public struct OAuth1: Sendable {
    /// The signature methods.
    public enum Method: String, Sendable {
        /// HMAC-SHA1, the standard's own.
        case hmacSHA1 = "HMAC-SHA1"
        /// HMAC-SHA256, which newer servers accept.
        case hmacSHA256 = "HMAC-SHA256"
    }

    private let consumerKey: String
    private let consumerSecret: String
    private let token: String
    private let tokenSecret: String
    private let method: Method

    /// Creates keys for an application and its user.
    public init(
        consumerKey: String, consumerSecret: String, token: String, tokenSecret: String, method: Method = .hmacSHA256
    ) {
        self.consumerKey = consumerKey
        self.consumerSecret = consumerSecret
        self.token = token
        self.tokenSecret = tokenSecret
        self.method = method
    }

    /// Reads keys from a replication document; `nil` if one is missing.
    init?(_ json: JSONValue) {
        guard let consumerKey = json["consumer_key"]?.string, let consumerSecret = json["consumer_secret"]?.string,
            let token = json["token"]?.string, let tokenSecret = json["token_secret"]?.string,
            let method = Method(rawValue: json["signature_method"]?.string ?? Method.hmacSHA1.rawValue)
        else { return nil }
        self.init(
            consumerKey: consumerKey, consumerSecret: consumerSecret, token: token, tokenSecret: tokenSecret,
            method: method)
    }

    /// The keys for a replication document, in the form of CouchDB 1, which always used HMAC-SHA1.
    var json: JSONValue {
        [
            "consumer_key": .string(consumerKey), "consumer_secret": .string(consumerSecret), "token": .string(token),
            "token_secret": .string(tokenSecret), "signature_method": .string(method.rawValue),
        ]
    }

    /// The value of the header `Authorization`.
    ///
    /// - Parameters:
    ///   - verb: The request's method.
    ///   - url: The request's address.
    ///   - time: Seconds since 1970.
    ///   - nonce: A random word that is used once.
    /// - Returns: The value.
    func authorization(_ verb: String, _ url: HTTPURL, time: Int, nonce: String) -> String {
        let own = [
            ("oauth_consumer_key", consumerKey), ("oauth_token", token), ("oauth_signature_method", method.rawValue),
            ("oauth_timestamp", String(time)), ("oauth_nonce", nonce), ("oauth_version", "1.0"),
        ]
        let signature = signature(of: Self.baseString(verb, url, own))
        let parts = (own + [("oauth_signature", signature)]).map { "\($0)=\"\(PercentCoding.encode($1))\"" }
        return "OAuth " + parts.joined(separator: ", ")
    }

    /// The signature of a base string (section 3.4.2).
    func signature(of base: String) -> String {
        let key = Array((PercentCoding.encode(consumerSecret) + "&" + PercentCoding.encode(tokenSecret)).utf8)
        let text = Array(base.utf8)
        return Base64.encode(method == .hmacSHA1 ? HMAC.sha1(text, key: key) : HMAC.sha256(text, key: key))
    }

    /// The text to sign (section 3.4.1): method, address without query, and all parameters in order.
    static func baseString(_ verb: String, _ url: HTTPURL, _ parameters: [(String, String)]) -> String {
        let asked = (url.query ?? "").split(separator: "&").map { item -> (String, String) in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (formDecoded(parts[0]), parts.count > 1 ? formDecoded(parts[1]) : "")
        }
        let encoded = (asked + parameters).map { (PercentCoding.encode($0), PercentCoding.encode($1)) }
        let sorted = encoded.sorted { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }
        let normalized = sorted.map { "\($0)=\($1)" }.joined(separator: "&")
        let address = "\(url.origin)\(url.path.isEmpty ? "/" : url.path)"
        return [verb.uppercased(), address, normalized].map { PercentCoding.encode($0) }.joined(separator: "&")
    }

    private static func formDecoded(_ text: Substring) -> String {
        PercentCoding.decode(text.replacing("+", with: " "))
    }
}

extension OAuth1: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the application's key.
    public var description: String { "OAuth 1 with the key '\(consumerKey)'" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The name of the application's key.
    public var customMirror: Mirror { Mirror(self, children: ["consumerKey": consumerKey], displayStyle: .struct) }
}
