internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleViews

/// A request for an endpoint that reads: on a worker thread a ``RequestContext``, on a polling thread a
/// ``PromptContext``.
protocol ReadContext: Sendable {
    /// The request.
    var request: ServerRequest { get }
    /// The values of the route's path parameters.
    var parameters: PathPattern.Parameters { get }
    /// The user who sent the request.
    var user: User { get }
    /// The parameters of the query.
    var query: HTTPQuery { get }
    /// The server's options.
    var options: ServerOptions { get }
    /// The maximum size of a body that the endpoint reads into memory, in bytes.
    var longestBody: Int { get }
    /// The server's id, as `GET /` reports it.
    var uuid: String { get }
    /// Counts what is read.
    var metrics: Metrics { get }
    /// The databases.
    var sources: any DatabaseSource { get }

    /// The same request on a worker thread.
    ///
    /// - Throws: ``NotAtHand`` on a polling thread.
    var worker: RequestContext { get throws }
}

/// A request on a worker thread, with what many endpoints need. What only a few endpoints need, they name in their
/// declaration.
struct RequestContext: ReadContext {
    private let server: ServerState
    let request: ServerRequest
    let parameters: PathPattern.Parameters
    let user: User
    var query: HTTPQuery
    let longestBody: Int

    var options: ServerOptions { server.options }
    var uuid: String { server.uuid }
    var metrics: Metrics { server.metrics }
    var sources: any DatabaseSource { server.databases }
    var worker: RequestContext { self }
    var databases: DatabasePool { server.databases }
    var scripts: Scripts? { server.scripts }
    var indexing: IndexingTasks { server.indexing }
    var compactions: Compactions { server.compactions }
    /// The metrics of scrubs; empty without scrubs.
    var scrubMetrics: [Metric] { server.scrubber?.metrics ?? [] }
    /// The names of the server's administrators, sorted.
    var administrators: [String] { server.administration.names }
    var hasher: PasswordHasher { server.administration.hasher }
    /// The current values of the settings that can be changed while the server runs.
    var live: LiveSettings { server.live.withLock(\.self) }

    init(
        server: ServerState, request: ServerRequest, parameters: PathPattern.Parameters, user: User,
        query: HTTPQuery, longestBody: Int? = nil
    ) {
        self.longestBody = longestBody ?? server.options.largestBody
        self.server = server
        self.request = request
        self.parameters = parameters
        self.user = user
        self.query = query
    }

    /// The database that the path names.
    ///
    /// - Throws: ``HTTPError`` with status 404.
    func database() throws -> Database { try databases.open(parameter("db")) }

    /// The same request for another database. The caller must first check that the user may use that one.
    func of(database name: String) -> RequestContext {
        RequestContext(
            server: server, request: request, parameters: ["db": name], user: user, query: query,
            longestBody: longestBody)
    }

    /// The maximum size of a document's body, in bytes.
    var largestDocument: Int { server.live.withLock(\.largestDocument) }

    /// A part of the server that only some endpoints need.
    func service<Service>(_ choose: (ServerState) -> Service) -> Service { choose(server) }
}

/// A request on a polling thread, with what an endpoint can use without waiting.
struct PromptContext: ReadContext {
    private let whole: RequestContext

    init(_ context: RequestContext) { whole = context }

    var request: ServerRequest { whole.request }
    var parameters: PathPattern.Parameters { whole.parameters }
    var user: User { whole.user }
    var query: HTTPQuery { whole.query }
    var options: ServerOptions { whole.options }
    var longestBody: Int { whole.longestBody }
    var uuid: String { whole.uuid }
    var metrics: Metrics { whole.metrics }
    var sources: any DatabaseSource { PromptDatabases(whole.databases) }
    var worker: RequestContext { get throws { throw NotAtHand() } }
}

extension ReadContext {
    /// A parameter of the path.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The database that the path names, for reading.
    ///
    /// - Throws: As ``DatabaseSource/source(_:)`` does.
    func source() throws -> any QuerySource { try sources.source(parameter("db")) }

    /// The origin of the client's URLs of this server; `nil` if an untrusted proxy is in front, or one that does
    /// not report the host.
    var origin: String? {
        let route = request.route
        if let host = route.host { return "\(route.scheme)://\(host)" }
        return route.isForwarded ? nil : "\(route.scheme)://\(request.headers["Host"] ?? "localhost")"
    }

    /// A URL of a resource of this server, for the client. It is relative if the server does not know its own
    /// address.
    func location(_ segments: String...) -> String {
        let path = segments.map { PercentCoding.encode($0, keeping: .couchDB) }.joined(separator: "/")
        return origin.map { "\($0)\(request.route.prefix)/\(path)" } ?? relative(path)
    }

    /// A relative reference from the request's path to another path of this server. It is also right where a proxy
    /// adds a prefix to both.
    ///
    /// - Parameter path: The other path, without a leading slash.
    /// - Returns: As `../db/doc`, never a path from the root.
    func relative(_ path: String) -> String {
        let depth = request.target.rawPath.utf8.count { $0 == UInt8(ascii: "/") } - 1
        return (depth > 0 ? String(repeating: "../", count: depth) : "./") + path
    }

    /// The whole body, decompressed if necessary.
    func body(limit: Int? = nil) throws -> [UInt8] {
        let limit = limit ?? longestBody
        let encoding = request.headers["Content-Encoding"]?.trimmingBlanks() ?? "identity"
        guard encoding == "identity" || encoding == "gzip" else {
            throw HTTPError.contentType("\(encoding) is not a supported content encoding.")
        }
        do {
            let bytes = try request.body.readAll(limit: limit)
            return encoding == "gzip" ? try Compression.expand(bytes, limit: limit) : bytes
        } catch ServerRequest.BodyError.tooLarge {
            // The second error advises to raise a setting, which would not raise a lower limit.
            throw limit < options.largestBody ? HTTPError.tooLarge : HTTPError.bodyTooLarge(limit)
        }
    }

    /// The body as a value.
    ///
    /// - Throws: ``HTTPError`` with status 400 if it is not JSON, and 413 if it has more values than ``RequestLimits`` allow.
    func json() throws -> JSONValue { try RequestLimits.value(body()) }

    /// The body as an object's members.
    func jsonObject() throws -> JSONObject {
        guard let object = try json().object else { throw HTTPError.badRequest("Request body must be a JSON object") }
        return object
    }

    /// Scans a body for its members. The body must be an object.
    ///
    /// - Throws: ``HTTPError`` with status 400 if it is not one; `tooLong` if there are more elements than the limit.
    func outline(
        of bytes: [UInt8], elementsOf name: String, atMost limit: Int, or tooLong: HTTPError
    ) throws -> JSONOutline {
        do { return try JSONOutline(bytes, elementsOf: name, atMost: limit) } catch {
            if error.code == .tooManyValues { throw tooLong }
            guard error.code == .notAnObject else { throw error }
            _ = try RequestLimits.value(bytes)
            throw HTTPError.badRequest("Request body must be a JSON object")
        }
    }

    /// Checks the `Content-Type` of the body; case and blanks matter.
    func requireContentType(_ type: String = "application/json") throws {
        let given = request.headers["Content-Type"]?.utf8.split(separator: UInt8(ascii: ";"), maxSplits: 1).first
        guard let given, given.elementsEqual(type.utf8) else {
            throw HTTPError.contentType("Content-Type must be \(type)")
        }
    }
}

// MARK: - RequestLimits

/// The limits of one request.
///
/// A value takes many times the memory of its text: `[1,1,1]` about 25 times, `{"":{}}` 50 times. So values are
/// counted while they are read, and a body within `body_size` takes at most a fixed multiple of it.
enum RequestLimits {
    /// The maximum number of values in a JSON body that is parsed as a whole: keys, revisions, conditions.
    static let values = 250_000
    /// The maximum number of queries in one request.
    static let queries = 1000
    /// The maximum number of names in `fields` of a query.
    static let fields = 1000

    /// Parses a JSON text that a client sent.
    ///
    /// - Throws: ``JSONError``, with code `tooManyValues` above the limit, which is answered with 413.
    static func value(_ bytes: [UInt8]) throws -> JSONValue { try JSONValue(utf8: bytes, atMost: values) }

    /// Checks the number of queries in a request.
    ///
    /// - Throws: ``HTTPError`` with status 413.
    static func check(queries: Int) throws {
        guard queries <= Self.queries else {
            throw HTTPError.tooMany("a request may have \(Self.queries) queries")
        }
    }
}

extension HTTPError {
    static func tooMany(_ reason: String) -> HTTPError { HTTPError(413, "too_large", reason) }

    static let tooManyValues = tooMany(
        "a request may have \(RequestLimits.values) values in its JSON here; send several requests")

    /// The error of a batch that exceeds a limit of CouchDB's later branch; 3.5 has no such limit.
    static func batchTooLong(_ name: String, _ limit: Int) -> HTTPError {
        HTTPError(413, "max_\(name)_count_exceeded", String(limit))
    }
}

// MARK: - Compression

/// Compressed request bodies.
enum Compression {
    /// Expands a gzip body.
    ///
    /// - Throws: ``HTTPError`` if it is invalid, or exceeds the limit.
    static func expand(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
        do {
            guard let expanded = try Gzip.expand(bytes, limit: limit) else { throw ServerRequest.BodyError.tooLarge }
            return expanded
        } catch let error as DatabaseError where error.code == .attachmentMissing { throw notGzip }
    }

    private static let notGzip = HTTPError.badRequest("Request body is not properly gzipped.")
}

// MARK: - Members

extension JSONObject {
    /// Refuses unknown members of a request.
    ///
    /// - Throws: ``HTTPError`` with status 400, which lists the known members.
    func requireMembers(among known: [String]) throws {
        if let other = names.first(where: { !known.contains($0) }) {
            throw HTTPError.badRequest("There is no `\(other)`; there are \(known.joined(separator: ", ")).")
        }
    }
}

extension HTTPQuery {
    /// Whether a parameter is exactly `true`.
    func isTrue(_ name: String) -> Bool { self[name] == "true" }

    /// A parameter that is a whole number of at least zero.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    func count(_ name: String, _ standard: Int) throws -> Int {
        guard let text = self[name] else { return standard }
        guard let count = Int(text) else { throw HTTPError.queryParse("\(name) must be an integer") }
        guard count >= 0 else { throw HTTPError.queryParse("\(name) not in range of [0,infinity]") }
        return count
    }

    /// A parameter parsed as JSON.
    func json(_ name: String) throws -> JSONValue? { try self[name].map { try JSONValue(parsing: $0) } }

    /// A parameter parsed as a revision.
    ///
    /// - Throws: ``HTTPError/invalidRevision``.
    func revision(_ name: String = "rev") throws -> WireRevision? { try self[name].map { try WireRevision($0) } }
}
