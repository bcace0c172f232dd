/// What answers one method of one route.
typealias Endpoint = @Sendable (RequestContext) throws -> HTTPResponse

/// One line of the routing table: a form of path, who may use it, and what answers each method.
///
/// Methods that ask more of who uses them than the others are named beside them.
final class Route: Sendable {
    let pattern: PathPattern
    private let access: Access
    private let stricter: [String: Access]
    /// What the header `Allow` says of it, in CouchDB's order.
    let allow: String
    private let endpoints: [String: Endpoint]
    /// The methods that take a few pages of memory or of a file as a rule; GET stands for HEAD too.
    private let quick: Set<String>
    /// Whether what answers may wait for scripts.
    let scripts: ScriptUse

    /// What a route asks of who wants to use it; ``AccessCheck`` is where it is looked at.
    enum Access: Sendable {
        /// Anyone, even without logging in.
        case anyone
        /// Whoever may list the databases: the server's administrators, unless the options let everybody.
        case lister
        /// Whoever may read and write documents of the database in the path.
        case member
        /// Whoever may have the database in the path maintained: its administrators.
        case databaseAdmin
        /// Whoever may change the settings of the database in the path: its administrators, in CouchDB's other words.
        case settings
        /// The server's administrators, and whoever has the role `_metrics`.
        case metrics
        /// The server's administrators.
        case serverAdmin
    }

    /// When an endpoint waits for scripts.
    enum ScriptUse: Sendable {
        /// Never.
        case never
        /// When it writes, and a validation function is asked.
        case writing
        /// When a function filters.
        case filtering
        /// Always.
        case always
    }

    init(
        _ pattern: String, _ access: Access, _ allow: String, _ endpoints: [String: Endpoint],
        stricter: [String: Access] = [:], quick: Set<String> = [], scripts: ScriptUse = .never
    ) {
        self.pattern = PathPattern(pattern)
        self.access = access
        self.stricter = stricter
        self.allow = allow
        self.endpoints = endpoints
        self.quick = quick
        self.scripts = scripts
    }

    /// What a method asks of who uses it.
    func access(_ method: String) -> Access { stricter[method == "HEAD" ? "GET" : method] ?? access }

    /// Whether it is worth trying to answer a request without waiting: one without attachments or old revisions.
    func isQuick(_ request: HTTPRequest) -> Bool {
        guard quick.contains(request.method == "HEAD" ? "GET" : request.method) else { return false }
        return request.target.query.allSatisfy { !Self.slow.contains($0.name) }
    }

    private static let slow: Set = ["attachments", "atts_since", "open_revs"]

    /// What answers a method; HEAD is a GET whose body is not sent.
    func endpoint(_ method: String) -> Endpoint? { endpoints[method == "HEAD" ? "GET" : method] }
}
