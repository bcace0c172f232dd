internal import SettleHTTP
internal import SettlePlatform

/// Answers one method of one route.
enum Endpoint: Sendable {
    /// Runs on a worker thread, and may wait.
    case work(@Sendable (RequestContext) throws -> HTTPResponse)
    /// Runs first on the polling thread with a ``PromptContext``, which can't wait. If that throws ``NotAtHand``,
    /// it runs on a worker thread.
    case read(@Sendable (any ReadContext) throws -> HTTPResponse)

    /// Runs on a worker thread with a part of the server that few endpoints need.
    static func work<Service>(
        _ choose: @escaping @Sendable (ServerState) -> Service,
        _ body: @escaping @Sendable (Service, RequestContext) throws -> HTTPResponse
    ) -> Endpoint {
        .work { context in try body(context.service(choose), context) }
    }

    /// Answers a request on a worker thread.
    func answer(_ context: RequestContext) throws -> HTTPResponse {
        switch self {
        case .work(let body): try body(context)
        case .read(let body): try body(context)
        }
    }
}

/// One line of the routing table: the form of a path, its access rule, and the endpoint of each method.
///
/// A method with a stricter access rule is named separately.
final class Route: Sendable {
    let pattern: PathPattern
    private let access: Access
    private let stricter: [String: Access]
    /// The value of the header `Allow`, in CouchDB's order.
    let allow: String
    private let endpoints: [String: Endpoint]
    /// When the endpoints may wait for scripts.
    let scripts: ScriptUse
    /// The maximum size of a request's body.
    let body: BodyBound

    /// The right that a route requires; ``AccessCheck`` checks it.
    enum Access: Sendable {
        /// None; not even a login.
        case anyone
        /// Listing the databases: for the server's administrators, or for everybody if the options allow that.
        case lister
        /// Reading and writing documents of the database in the path.
        case member
        /// Maintaining the database in the path: for its administrators.
        case databaseAdmin
        /// Changing the settings of the database in the path: for its administrators. A refusal uses CouchDB's
        /// other wording.
        case settings
        /// Reading metrics: for the server's administrators, and for users with the role `_metrics`.
        case metrics
        /// Being an administrator of the server.
        case serverAdmin
    }

    /// When an endpoint may wait for scripts.
    enum ScriptUse: Sendable {
        /// Never.
        case never
        /// When it writes to a database with validation functions.
        case writing
        /// When the request names a filter function.
        case filtering
        /// Always.
        case always
    }

    /// The maximum size of a request's body; docs/SECURITY.md has a table with the bounds of all routes.
    enum BodyBound: Sendable {
        /// 64 KiB: a few names and values.
        case short
        /// ``ServerOptions/largestBody``.
        case whole
        /// ``LiveSettings/largestUpload`` for a `PUT`, whose attachments are streamed; otherwise as `whole`.
        case streamed
        /// ``LiveSettings/largestUpload``: a file, which is never in memory as a whole.
        case file

        /// The maximum size of a body that is read into memory, in bytes.
        func inMemory(_ options: ServerOptions) -> Int {
            self == .short ? min(64 << 10, options.largestBody) : options.largestBody
        }

        /// The maximum size of the body of a request with a method, in bytes.
        func bytes(_ method: String, _ options: ServerOptions, _ live: LiveSettings) -> Int64 {
            switch self {
            case .file: Int64(live.largestUpload)
            case .streamed where method == "PUT": Int64(live.largestUpload)
            case .short, .whole, .streamed: Int64(inMemory(options))
            }
        }
    }

    init(
        _ pattern: String, _ access: Access, _ allow: String, _ endpoints: [String: Endpoint],
        stricter: [String: Access] = [:], scripts: ScriptUse = .never, body: BodyBound = .short
    ) {
        self.pattern = PathPattern(pattern)
        self.access = access
        self.stricter = stricter
        self.allow = allow
        self.endpoints = endpoints
        self.scripts = scripts
        self.body = body
    }

    /// The right that a method requires.
    func access(_ method: String) -> Access { stricter[method == "HEAD" ? "GET" : method] ?? access }

    /// The endpoint of a method. HEAD uses GET's; the body is not sent.
    func endpoint(_ method: String) -> Endpoint? { endpoints[method == "HEAD" ? "GET" : method] }
}

// MARK: - PathPattern

/// The form of a path: `/{db}/_design/{name}/{file...}`.
///
/// A slash inside a segment is written `%2F`. A name in braces matches any one segment; with dots, one or more
/// segments to the end, joined by slashes.
struct PathPattern: Sendable {
    /// A pattern for one part of a path.
    enum Part: Sendable, Equatable {
        case word(String)
        case any(String)
        case rest(String)
    }

    /// The values of the names in braces. There are so few that a search is fast.
    struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
        private var items: [(name: String, value: String)]

        init(dictionaryLiteral elements: (String, String)...) { items = elements.map { (name: $0.0, value: $0.1) } }

        /// The value for a name.
        subscript(name: String) -> String? { items.first { $0.name == name }?.value }

        /// Adds a value.
        mutating func add(_ name: String, _ value: String) { items.append((name, value)) }
    }

    let parts: [Part]

    init(_ text: String) {
        parts = text.split(separator: "/").map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else {
                return .word(PercentCoding.decode(part, plusIsBlank: true))
            }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .any(String(name))
        }
    }

    /// The values of the names in braces, for a path that a ``RouteTree`` has matched with this form.
    func parameters(of segments: [String]) -> Parameters {
        var found: Parameters = [:]
        for (index, part) in parts.enumerated() {
            switch part {
            case .word: break
            case .any(let name): found.add(name, segments[index])
            case .rest(let name): found.add(name, segments[index...].joined(separator: "/"))
            }
        }
        return found
    }
}

// MARK: - RouteTree

/// The routes by the parts of their paths, so that a request's route is found in one walk along its path.
///
/// ```
///   {db} ─┬─ _find               a word goes before any part,
///         ├─ {doc} ── {file...}  and that before all that is left
///         └─ _design ── {design} ─┬─ _view ── {view}
///                                 └─ {file...}
/// ```
struct RouteTree: Sendable {
    /// A route, and the values of the names in braces.
    typealias Match = (route: Route, parameters: PathPattern.Parameters)

    private struct Node: Sendable {
        var words: [String: Node] = [:]
        /// The node for any segment; at most one.
        var any: [Node] = []
        /// The route for paths that end here.
        var route: Route?
        /// The route that matches all remaining segments, at least one.
        var rest: Route?

        mutating func insert(_ new: Route, at parts: ArraySlice<PathPattern.Part>) {
            switch parts.first {
            case nil: route = route ?? new
            case .word(let word): words[word, default: Node()].insert(new, at: parts.dropFirst())
            case .any:
                if any.isEmpty { any.append(Node()) }
                any[0].insert(new, at: parts.dropFirst())
            case .rest: rest = rest ?? new
            }
        }

        func find(_ segments: ArraySlice<String>) -> Route? {
            guard let first = segments.first else { return route }
            let others = segments.dropFirst()
            return words[first]?.find(others) ?? any.first?.find(others) ?? rest
        }
    }

    private var root = Node()

    init(_ routes: [Route]) { for route in routes { root.insert(route, at: route.pattern.parts[...]) } }

    /// The route of a path; `nil` for an unknown path.
    func match(_ segments: [String]) -> Match? {
        root.find(segments[...]).map { ($0, $0.pattern.parameters(of: segments)) }
    }
}
