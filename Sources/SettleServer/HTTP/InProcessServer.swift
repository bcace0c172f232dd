package import SettleCore
public import SettleDatabase
package import SettleMobile
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

    /// Waits until indexes are up to date that requests left to be updated after their answers.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func finishIndexing() async throws { try await state.indexing.waitForLater() }

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
            deferred.whenFulfilled { taker(.success($0)) }
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

// MARK: - Calling

/// Requests and connections that are handled on the calling thread, in the order of the calls.
///
/// A simulation uses them: equal calls have equal answers, and no thread waits for another one.
extension InProcessServer {
    /// Answers a request about the database.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: What follows the name of the database in the address, with its query; percent-coded.
    ///   - body: The body, JSON unless `contentType` says otherwise.
    ///   - contentType: The type of the body.
    /// - Returns: The status, and a body that is not streamed; with status 500 nothing if the answer comes later.
    package func answer(
        _ method: String, _ path: String, body: [UInt8] = [], contentType: String = "application/json"
    ) -> (status: Int, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in proof { headers.add(field.name, field.value) }
        if !body.isEmpty { headers.add("Content-Type", contentType) }
        let request = HTTPRequest(
            method: method, target: RequestTarget(url.path + path), headers: headers, body: BufferedBody(body))
        let response = router.respond(to: request)
        switch response.body {
        case .bytes(let bytes): return (response.status, bytes)
        case .stream, .upgrade: return (response.status, [])
        case .later: return (500, [])
        }
    }

    /// Connects a client of Couchbase Mobile's protocol as `GET /{db}/_blipsync` does, with the rights of an administrator.
    ///
    /// - Parameters:
    ///   - userAgent: What the client calls itself.
    ///   - limits: What the connection may cost.
    ///   - wake: Called when the server has something to send.
    /// - Returns: The server's end, which handles a message while it receives the message's last byte. The caller moves the bytes,
    ///   and ends the connection.
    package func connect(
        userAgent: String, _ limits: BLIPLimits = BLIPLimits(), wake: @escaping @Sendable () -> Void = {}
    ) -> BLIPConnection {
        let name = url.databaseName ?? ""
        var headers = HTTPHeaders()
        headers.add("User-Agent", userAgent)
        let request = HTTPRequest(
            method: "GET", target: RequestTarget(url.path + "/_blipsync"), headers: headers, body: BufferedBody())
        let context = RequestContext(
            server: state, request: request, parameters: ["db": name], user: User(name: "settle", roles: ["_admin"]),
            query: QueryParameters([]))
        let session = MobileSession(context, workers: WorkerPool(limit: 0), peer: "in process")
        let connection = BLIPConnection(
            isServer: true, limits: limits, handler: { session.receive($0) }, wake: wake, ended: { session.end() })
        session.begin(connection)
        return connection
    }
}

// MARK: - ProducedBody

/// The body of a request of this process, read by a thread that may wait for the task that produces it.
final class ProducedBody: RequestBody {
    let declaredLength: Int64?
    private let rest: Guarded<TransportRequestBody.Producer?>

    init(_ body: TransportRequestBody) {
        switch body {
        case .none: (declaredLength, rest) = (0, Guarded(nil))
        case .bytes(let bytes):
            declaredLength = Int64(bytes.count)
            let left = Guarded<[UInt8]?>(bytes.isEmpty ? nil : bytes)
            rest = Guarded {
                left.withLock { left in
                    defer { left = nil }
                    return left
                }
            }
        case .stream(let length, let open): (declaredLength, rest) = (length, Guarded(open()))
        }
    }

    func read() throws -> [UInt8]? {
        guard let produce = rest.withLock(\.self) else { return nil }
        let piece = Promise<Result<[UInt8]?, any Error>>()
        Task.detached { do { piece.fulfil(.success(try await produce())) } catch { piece.fulfil(.failure(error)) } }
        return try piece.wait().get()
    }
}

extension WorkerPool {
    /// Runs a job on one of the threads, and waits for the value it hands to its taker without holding a thread.
    ///
    /// - Throws: What the job hands over, and `CancellationError` when the task is cancelled; the job goes on then.
    func value<Value: Sendable>(
        _ job: @escaping @Sendable (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let value = Promise<Result<Value, any Error>>()
        submit { job { value.fulfil($0) } }
        return try await value.get(ifCancelled: .failure(CancellationError())).get()
    }
}

// MARK: - StreamReader

/// Asks a ``ResponseStream`` for its pieces, one at a time, and ends it when it is let go of.
final class StreamReader: Sendable {
    private let stream: any ResponseStream
    private let workers: WorkerPool
    private let hasBegun = Guarded(false)
    private let bell = Bell()

    init(_ stream: any ResponseStream, _ workers: WorkerPool) {
        self.stream = stream
        self.workers = workers
    }

    deinit { stream.end() }

    /// Reads the next piece.
    ///
    /// - Parameter server: The server of the stream, which stays as long as the stream is read.
    /// - Returns: The piece; `nil` after the last.
    /// - Throws: What the stream throws, and `CancellationError`.
    func next(of server: InProcessServer) async throws -> [UInt8]? {
        while true {
            let seen = bell.position
            let step: ResponseStep = try await workers.value { [self] taker in
                taker(Result { try self.step() })
            }
            switch step {
            case .piece(let piece): if !piece.isEmpty { return piece }
            case .end: return nil
            case .wait: await bell.wait(after: seen)
            }
            try Task.checkCancellation()
        }
    }

    private func step() throws -> ResponseStep {
        let begins = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        if begins { stream.begin { [bell] in bell.ring() } }
        return try stream.next()
    }
}
