/// How a server asks who one is: `WWW-Authenticate: Basic realm="notes"`.
struct AuthenticationChallenge: Sendable, Equatable {
    static let basic = "basic"

    /// The method in lower case.
    let method: String
    /// What the server calls the place.
    let realm: String?

    /// Whether it asks for a user and a password.
    var isBasic: Bool { method == Self.basic }

    /// Reads an answer's challenge, a basic one if there is one; `nil` where it has none.
    init?(_ headers: HTTPClientHeaders) {
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
