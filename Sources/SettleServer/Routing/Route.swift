/// One line of the routing table: a form of path, who may use it, and what answers each method.
struct Route: Sendable {
    let pattern: PathPattern
    let access: Access
    /// What the header `Allow` says of it, in CouchDB's order.
    let allow: String
    private let endpoints: [String: Endpoint]

    init(_ pattern: String, _ access: Access, _ allow: String, _ endpoints: [String: Endpoint]) {
        self.pattern = PathPattern(pattern)
        self.access = access
        self.allow = allow
        self.endpoints = endpoints
    }

    /// What answers a method; HEAD is a GET whose body is not sent.
    func endpoint(_ method: String) -> Endpoint? { endpoints[method == "HEAD" ? "GET" : method] }
}
