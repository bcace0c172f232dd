/// One line of the routing table: a form of path, who may use it, and what answers each method.
struct Route: Sendable {
    let pattern: PathPattern
    /// What the header `Allow` says of it, in CouchDB's order.
    let allow: String
    private let access: Access
    private let stricter: [String: Access]
    private let endpoints: [String: Endpoint]

    /// - Parameters:
    ///   - pattern: The form of path.
    ///   - access: Who may use it.
    ///   - allow: What the header `Allow` says.
    ///   - endpoints: What answers each method.
    ///   - stricter: Who may use the methods that not all of those may use.
    init(
        _ pattern: String, _ access: Access, _ allow: String, _ endpoints: [String: Endpoint],
        stricter: [String: Access] = [:]
    ) {
        self.pattern = PathPattern(pattern)
        self.access = access
        self.allow = allow
        self.endpoints = endpoints
        self.stricter = stricter
    }

    /// What answers a method; HEAD is a GET whose body is not sent.
    func endpoint(_ method: String) -> Endpoint? { endpoints[method == "HEAD" ? "GET" : method] }

    /// Who may use a method.
    func access(_ method: String) -> Access { stricter[method] ?? access }
}
