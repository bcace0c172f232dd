/// Cross-origin requests that browsers allow (CORS).
public struct CrossOriginOptions: Sendable {
    /// The allowed origins, as `https://app.example.com`; `*` for all.
    public var origins: Set<String>
    /// Whether pages of these origins may send cookies and passwords; never with `*`. False by default.
    public var allowsCredentials = false
    /// The methods that pages of these origins may use.
    public var methods = ["COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]
    /// The headers that pages of these origins may send, in lower case.
    public var headers: Set<String> = [
        "accept", "accept-language", "authorization", "content-length", "content-range", "content-type", "destination",
        "expires", "if-match", "last-modified", "origin", "pragma", "x-couch-full-commit", "x-couch-id",
        "x-couch-persist", "x-couchdb-www-authenticate", "x-http-method-override", "x-requested-with",
    ]
    /// How long a browser may cache a preflight, in whole seconds; 600 seconds by default.
    public var maximumAge: Duration = .seconds(600)

    /// Makes options for origins.
    public init(origins: Set<String>) { self.origins = origins }
}
