package import SettleCore
public import SettleDatabase
internal import SettlePlatform
public import SettleReplication
public import SettleScripting

/// Answers CouchDB's HTTP API for one open database to a client in the same process, without a socket.
///
///     let server = try InProcessServer(database, scripts: nil)
///     let connection = CouchDBConnection(database: server.url, client: server)
///     let info = try await connection.json("GET", "").json
///
/// Requests are handed to the router as values, and what it answers is handed back. Each has the rights of an
/// administrator and is trusted as a program that has the database open itself: what it writes is validated by no script.
/// Endpoints run on threads of their own, so a task that waits for an answer holds no thread.
public final class InProcessServer: HTTPTransport {
    /// The address of the database, which leads here whatever its host is.
    public let url: HTTPURL
    let state: ServerState
    let router: Router
    private let workers = WorkerPool(limit: 8)
    /// The headers that prove to the router who asks: those of a trusted proxy.
    let proof: [(name: String, value: String)]

    /// Makes a server of a database.
    ///
    /// - Parameters:
    ///   - database: The database; it is not closed with the server.
    ///   - name: What the database is called; where it begins with an underscore, it loses that.
    ///   - scripts: What runs the functions of design documents.
    ///   - log: Where failures of the server are written.
    /// - Throws: ``DatabaseError`` when the folder of the database can't be used.
    public init(
        _ database: Database, name: String, scripts: ScriptOptions?, log: ServerLog? = nil
    ) throws {
        let secret = SecureRandom.hexadecimal(bytes: 32)
        var options = ServerOptions()
        options.scripts = scripts
        options.log = log
        options.makesTextIndexes = true
        options.trustsWriters = true
        options.largestBody = .max
        options.largestUpload = .max
        options.largestDocument = .max
        (options.bulkDocuments, options.bulkGets) = (.max, .max)
        (options.queryTime, options.querySteps) = (.seconds(1_000_000_000), .max)
        options.security.proxy = ProxyOptions(secret: secret)
        let user = "settle"
        let code = HashFunction.sha256.code(of: Array(user.utf8), key: Array(secret.utf8))
        proof = [
            ("X-Auth-CouchDB-UserName", user), ("X-Auth-CouchDB-Roles", "_admin"),
            ("X-Auth-CouchDB-Token", Hexadecimal.encode(code)),
        ]
        // Names that begin with _ have rules of their own.
        let plain = String(name.drop { $0 == "_" })
        let known = plain.isEmpty ? "database" : plain
        url = try HTTPURL("http://localhost").appending(HTTPPath(segments: [known]))
        state = ServerState(store: try DocumentStore(path: database.path ?? "."), options: options)
        state.databases.lend(database, as: known)
        router = Router(state)
    }

    deinit { close() }

    /// Ends the processes that run scripts, and the threads once their jobs are done. The database stays open.
    public func close() {
        state.scripts?.close()
        state.compactions.close()
        state.updates.stop()
        workers.close()
    }

    /// How many changes an index that is being built has processed, and how many there are; `nil` when none is built.
    public var indexing: (done: Int, total: Int)? {
        guard let task = state.indexing.json.first else { return nil }
        return (task["changes_done"]?.int ?? 0, task["total_changes"]?.int ?? 0)
    }

    /// Hands a request to the router.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; the endpoint runs to its end then. ``DatabaseError`` and
    ///   ``ScriptError`` where a server would answer with a status from 500 on, which does not say what is damaged or full.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var headers = HTTPHeaders()
        for field in request.headers.fields + proof { headers.add(field.name, field.value) }
        let target = RequestTarget(request.url.path + (request.url.query.map { "?\($0)" } ?? ""))
        let asked = HTTPRequest(
            method: request.method, target: target, headers: headers, body: ProducedBody(request.body))
        let response = try await workers.value { [router] taker in
            let response = router.respond(to: asked)
            guard case .later(let deferred) = response.body else { return taker(.success(response)) }
            deferred.whenReady { taker(.success($0)) }
        }
        if let cause = response.cause, cause is DatabaseError || cause is ScriptError { throw cause }
        var answered = TransportHeaders()
        for field in response.headers.fields { answered.add(field.name, field.value) }
        return TransportResponse(
            status: response.status, headers: answered, body: body(of: response, request.method), url: request.url)
    }

    private func body(of response: HTTPResponse, _ method: String) -> TransportBody {
        switch response.body {
        case .upgrade: return TransportBody(next: { nil })
        case .bytes(let bytes) where method != "HEAD" && !bytes.isEmpty:
            let rest = Guarded<[UInt8]?>(bytes)
            return TransportBody(next: {
                rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
            })
        case .stream(let stream, _):
            let reader = StreamReader(stream, workers)
            if method != "HEAD" { return TransportBody(next: { [self] in try await reader.next(of: self) }) }
        case .bytes, .later: break
        }
        return TransportBody(next: { nil })
    }
}

extension InProcessServer {
    /// Sees that a design document has the form of one, before it is written.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`, which names the member that is wrong.
    package static func check(designDocument members: JSONObject) throws {
        do { try DesignDocumentCheck.check(members) } catch let error as HTTPError {
            throw DatabaseError(.invalid, error.reason)
        }
    }
}
