/// Pages of other origins that browsers let use the server (CORS).
public struct CrossOriginOptions: Sendable {
    /// The origins, as `https://app.example.com`; `*` for all.
    public var origins: Set<String>
    /// Whether such pages may send cookies and passwords; never with `*` among the origins; false unless set.
    public var allowsCredentials = false
    /// The methods such pages may use.
    public var methods = ["COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]
    /// The headers such pages may send, in lower case.
    public var headers: Set<String> = [
        "accept", "accept-language", "authorization", "content-length", "content-range", "content-type", "destination",
        "expires", "if-match", "last-modified", "origin", "pragma", "x-couch-full-commit", "x-couch-id",
        "x-couch-persist", "x-couchdb-www-authenticate", "x-http-method-override", "x-requested-with",
    ]
    /// For how many seconds a browser may remember all this; 600 unless set.
    public var maximumAge = 600

    /// Makes options for origins.
    public init(origins: Set<String>) { self.origins = origins }
}
