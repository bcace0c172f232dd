package import SettleCore
public import SettleDatabase
public import SettleHTTP
package import SettleMobile
internal import SettlePlatform
public import SettleScripting

/// Answers CouchDB's HTTP API for one open database to a client in the same process, without a socket.
///
///     let server = try InProcessServer(database, scripts: nil)
///     let connection = CouchDBConnection(database: server.url, client: server)
///     let info = try await connection.json("GET", "").json
///
/// The router gets requests as values, and returns responses as values. Each request has the rights of an
/// administrator, and is trusted like a program that has opened the database itself: no script validates its
/// writes. Endpoints run on worker threads, so a task that waits for a response holds no thread.
public final class InProcessServer: HTTPTransport {
    /// The URL of the database. Requests to it reach this server, whatever the URL's host is.
    public let url: HTTPURL
    private let state: ServerState
    private let router: Router
    private let workers = WorkerPool(limit: 8)

    /// Makes a server of a database.
    ///
    /// - Parameters:
    ///   - database: The database; it is not closed with the server.
    ///   - name: The name of the database; leading underscores are removed.
    ///   - scripts: The workers that run the functions of design documents.
    ///   - log: The log for failures of the server.
    /// - Throws: ``DatabaseError`` when the folder of the database can't be used.
    public init(
        _ database: Database, name: String, scripts: ScriptOptions?, log: ServerLog? = nil
    ) throws {
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
        // Names that begin with _ have special rules.
        let plain = String(name.drop { $0 == "_" })
        let known = plain.isEmpty ? "database" : plain
        url = try HTTPURL("http://localhost").appending(HTTPPath(segments: [known]))
        state = ServerState(store: try DocumentStore(path: database.path ?? "."), options: options)
        state.databases.lend(database, as: known)
        router = Router(state)
    }

    deinit { close() }

    /// Ends the processes that run scripts, and the threads after their jobs. The database stays open.
    public func close() {
        state.scripts?.close()
        state.compactions.close()
        state.updates.stop()
        workers.close()
    }

    /// The number of changes that the index being built has processed, and their total number; `nil` if no index is
    /// being built.
    public var indexing: (done: Int, total: Int)? {
        guard let task = state.indexing.json.first else { return nil }
        return (task["changes_done"]?.int ?? 0, task["total_changes"]?.int ?? 0)
    }

    /// Waits until indexes are up to date that requests have left to be updated after their responses.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func finishIndexing() async throws { try await state.indexing.waitForLater() }

    /// Passes a request to the router.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; the endpoint still runs to its end.
    ///   ``DatabaseError`` and ``ScriptError`` in place of responses with a status of 500 or above, which would not
    ///   say what is damaged or full.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var response = try await workers.value { [self] taker in
            let response = respond(to: request)
            guard case .later(let deferred) = response.body.content else { return taker(.success(response)) }
            deferred.whenFulfilled { taker(.success($0)) }
        }
        if let cause = response.cause, Self.isThrown(cause) { throw cause }
        response.body = arriving(response.body)
        if request.method == "HEAD" { response.body = .none }
        return response
    }

    /// Whether ``send(_:)`` throws an error in place of the response, so that the log need not repeat it.
    static func isThrown(_ error: any Error) -> Bool { error is DatabaseError || error is ScriptError }

    /// Makes the body of a response one that can be read once, like a client's.
    private func arriving(_ body: HTTPBody) -> HTTPBody {
        switch body.content {
        case .bytes(let bytes):
            let rest = BufferedBody(bytes)
            return HTTPBody(next: { rest.read() })
        case .stream(let stream, _):
            let reader = StreamReader(stream, workers)
            return HTTPBody(next: { [self] in try await reader.next(of: self) })
        case .pieces: return body
        case .later, .upgrade: return .none
        }
    }

    /// Answers a request on the calling thread. A simulation uses this: equal calls have equal answers, and no
    /// thread waits for another one.
    ///
    /// - Returns: The response, whose body may be a stream of the server.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        router.respond(to: ServerRequest(request), as: .administrator)
    }

    /// Connects a client of Couchbase Mobile's protocol as `GET /{db}/_blipsync` does, with the rights of an administrator.
    ///
    /// - Parameters:
    ///   - userAgent: The name of the client's program.
    ///   - limits: The limits of the connection.
    ///   - wake: Called when the server has something to send.
    /// - Returns: The server's end of the connection. It handles a message when it receives the message's last
    ///   byte. The caller moves the bytes, and ends the connection.
    package func connect(
        userAgent: String, _ limits: BLIPLimits = BLIPLimits(), wake: @escaping @Sendable () -> Void = {}
    ) -> BLIPConnection {
        let request = HTTPRequest("GET", url.appending("_blipsync"), headers: ["User-Agent": userAgent])
        let context = RequestContext(
            server: state, request: ServerRequest(request), parameters: ["db": url.databaseName ?? ""],
            user: .administrator, query: HTTPQuery())
        let session = MobileSession(context, workers: WorkerPool(limit: 0), peer: "in process")
        let connection = BLIPConnection(
            isServer: true, limits: limits, handler: { session.receive($0) }, wake: wake, ended: { session.end() })
        session.begin(connection)
        return connection
    }
}

extension InProcessServer {
    /// Checks the form of a design document before it is written.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`, which names the wrong member.
    package static func check(designDocument members: JSONObject) throws {
        do { try DesignDocumentCheck.check(members) } catch let error as HTTPError {
            throw DatabaseError(.invalid, error.reason)
        }
    }
}

// MARK: - ProducedBody

extension ServerRequest {
    /// A request of this process.
    fileprivate init(_ request: HTTPRequest) {
        let body: any RequestBody =
            switch request.body.content {
            case .bytes(let bytes): BufferedBody(bytes)
            case .pieces(let length, let open): ProducedBody(length, open())
            case .stream, .later, .upgrade: BufferedBody()
            }
        self.init(
            method: request.method, target: RequestTarget(request.url.target), headers: request.headers, body: body)
    }
}

/// The body of a request in this process, read by a thread that may wait for the task that produces it.
private final class ProducedBody: RequestBody {
    let declaredLength: Int64?
    private let produce: HTTPBody.Producer

    init(_ length: Int64?, _ produce: @escaping HTTPBody.Producer) {
        (declaredLength, self.produce) = (length, produce)
    }

    func read() throws -> [UInt8]? {
        let piece = Promise<Result<[UInt8]?, any Error>>()
        Task.detached { [produce] in
            do { piece.fulfil(.success(try await produce())) } catch { piece.fulfil(.failure(error)) }
        }
        return try piece.wait().get()
    }
}

extension WorkerPool {
    /// Runs a job on one of the threads. Waits without holding a thread for the value that the job passes to its
    /// taker.
    ///
    /// - Throws: The error that the job passes, and `CancellationError` when the task is cancelled; the job
    ///   continues.
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

/// Reads the pieces of a ``ResponseStream`` one at a time, and ends the stream when it is deallocated.
private final class StreamReader: Sendable {
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
    /// - Parameter server: The server of the stream, which must exist as long as the stream is read.
    /// - Returns: The piece; `nil` after the last.
    /// - Throws: Errors of the stream, and `CancellationError`.
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
