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
    init?(_ headers: TransportHeaders) {
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
