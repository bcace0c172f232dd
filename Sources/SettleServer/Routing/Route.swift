/// One line of the routing table: a form of path, who may use it, and what answers each method.
///
/// Methods that ask more of who uses them than the others are named beside them.
struct Route: Sendable {
    let pattern: PathPattern
    private let access: Access
    private let stricter: [String: Access]
    /// What the header `Allow` says of it, in CouchDB's order.
    let allow: String
    private let endpoints: [String: Endpoint]

    init(
        _ pattern: String, _ access: Access, _ allow: String, _ endpoints: [String: Endpoint],
        stricter: [String: Access] = [:]
    ) {
        self.pattern = PathPattern(pattern)
        self.access = access
        self.stricter = stricter
        self.allow = allow
        self.endpoints = endpoints
    }

    /// What a method asks of who uses it.
    func access(_ method: String) -> Access { stricter[method == "HEAD" ? "GET" : method] ?? access }

    /// What answers a method; HEAD is a GET whose body is not sent.
    func endpoint(_ method: String) -> Endpoint? { endpoints[method == "HEAD" ? "GET" : method] }
}
