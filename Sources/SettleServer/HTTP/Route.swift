internal import SettleHTTP
internal import SettlePlatform

/// What answers one method of one route.
enum Endpoint: Sendable {
    /// Runs on a worker thread, and may wait.
    case work(@Sendable (RequestContext) throws -> HTTPResponse)
    /// Is tried on the polling thread with a ``PromptContext``, which can't wait. When that ends in ``NotAtHand``, it runs on a
    /// worker thread.
    case read(@Sendable (any ReadContext) throws -> HTTPResponse)

    /// Runs on a worker thread with something of the server that few endpoints need.
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
    /// Whether what answers may wait for scripts.
    let scripts: ScriptUse
    /// How large the body of a request may be.
    let body: BodyBound

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

    /// How large the body of a request may be; docs/SECURITY.md has the bounds of all routes in a table.
    enum BodyBound: Sendable {
        /// Up to 64 KiB: a few names and values.
        case short
        /// Up to ``ServerOptions/largestBody``.
        case whole
        /// Up to ``ServerOptions/largestUpload`` for a `PUT`, whose attachments are streamed; else as `whole`.
        case streamed

        /// The largest body that is read into memory, in bytes.
        func inMemory(_ options: ServerOptions) -> Int {
            self == .short ? min(64 << 10, options.largestBody) : options.largestBody
        }

        /// The largest body of a request with a method, in bytes.
        func bytes(_ method: String, _ options: ServerOptions) -> Int64 {
            self == .streamed && method == "PUT" ? options.largestUpload : Int64(inMemory(options))
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

    /// What a method asks of who uses it.
    func access(_ method: String) -> Access { stricter[method == "HEAD" ? "GET" : method] ?? access }

    /// What answers a method; HEAD is a GET whose body is not sent.
    func endpoint(_ method: String) -> Endpoint? { endpoints[method == "HEAD" ? "GET" : method] }
}

// MARK: - PathPattern

/// The form of a path: `/{db}/_design/{name}/{file...}`.
///
/// A slash in a word is written `%2F`. A word in braces stands for any one segment, and takes it; with dots, for one or more to
/// the end, joined by slashes.
struct PathPattern: Sendable {
    /// What one part of a path may be.
    enum Part: Sendable, Equatable {
        case word(String)
        case any(String)
        case rest(String)
    }

    /// What the words in braces of a path stand for; so few that they are looked through.
    struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
        private var items: [(name: String, value: String)]

        init(dictionaryLiteral elements: (String, String)...) { items = elements.map { (name: $0.0, value: $0.1) } }

        /// The value of a name.
        subscript(name: String) -> String? { items.first { $0.name == name }?.value }

        /// Adds one.
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

    /// What the words in braces stand for in a path of this form, as a ``RouteTree`` has found it.
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

/// Routes by the parts of their paths, so that a request's route is found by walking along its path once.
///
/// ```
///   {db} ─┬─ _find               a word goes before any part,
///         ├─ {doc} ── {file...}  and that before all that is left
///         └─ _design ── {design} ─┬─ _view ── {view}
///                                 └─ {file...}
/// ```
struct RouteTree: Sendable {
    /// A route, and what the words in braces of its path stand for.
    typealias Match = (route: Route, parameters: PathPattern.Parameters)

    private struct Node: Sendable {
        var words: [String: Node] = [:]
        /// What follows any one part; at most one node.
        var any: [Node] = []
        /// The route whose path ends here.
        var route: Route?
        /// The route that takes all that is left, at least one part.
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

    /// The route of a path, or `nil` when there is no such route.
    func match(_ segments: [String]) -> Match? {
        root.find(segments[...]).map { ($0, $0.pattern.parameters(of: segments)) }
    }
}
