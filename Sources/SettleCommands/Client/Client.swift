internal import Settle
internal import SettleHTTP
internal import SettlePlatform
import SettleReplication
internal import SettleServer

/// A database as verbs see it: typed calls of CouchDB's HTTP API, each of which waits for its answer.
///
///     verb ─▶ client ─▶ socket ─▶ a server
///                    └▶ router in this process ─▶ the folder of a database
final class Client {
    /// What messages call the database: its address without user and password, or its folder.
    let name: String
    /// Where it is: its address, or its folder as a full path.
    let place: String
    /// Its address, without user and password.
    let url: HTTPURL
    /// The server of a folder; `nil` if another process has the server.
    private let inProcess: InProcessServer?
    private let console: Console
    private let connection: CouchDBConnection
    private let peer: CouchDBPeer
    /// The answer of a server to ``attributesKeptOnDelete()``.
    private var keptAttributes: Set<String>?
    /// The answer of a server to ``isAtSettle()``.
    private var isSettle: Bool?

    /// Makes the client of a database at a server; nothing is sent yet. From now on Ctrl-C ends what is waited for.
    ///
    /// - Parameters:
    ///   - url: The address of the database.
    ///   - name: What messages call it; its address by default.
    ///   - arguments: The user and the certificates.
    ///   - console: For warnings, and for the question for a password.
    /// - Throws: ``CommandError`` with status `usage` for the address of a server, or where a password is missing.
    init(_ url: HTTPURL, named name: String? = nil, arguments: Arguments, console: Console) throws {
        guard url.databaseName != nil else {
            throw CommandError.usage("\(url) names a server; append the name of a database")
        }
        Interruption.watch()
        let options = RemoteOptions(arguments: arguments, console: console)
        let (client, credentials) = (try options.client(), try options.credentials(for: url))
        self.url = url.withoutCredentials
        self.console = console
        (self.name, place) = (name ?? self.url.description, self.url.description)
        inProcess = nil
        connection = CouchDBConnection(database: self.url, client: client, credentials: credentials) { warning in
            console.complain("settle: \(warning)", json: ["warning": .string(warning)])
        }
        peer = try CouchDBPeer(self.url, credentials: credentials, client: client)
    }

    /// Makes the client of a server, for requests to the server itself; nothing is sent yet.
    convenience init(server url: HTTPURL, database: String = "_users", arguments: Arguments, console: Console) throws {
        try self.init(
            url.appending(HTTPPath(segments: [database])), named: url.withoutCredentials.description,
            arguments: arguments, console: console)
    }

    /// Makes the client of a database in a folder, which is answered by a server in this process.
    init(_ server: InProcessServer, path: String, place: String? = nil, console: Console) throws {
        Interruption.watch()
        (name, self.place) = (path, place ?? path)
        self.console = console
        inProcess = server
        url = server.url
        connection = CouchDBConnection(database: server.url, client: server, credentials: ReplicationCredentials.none)
        peer = try CouchDBPeer(server.url, credentials: ReplicationCredentials.none, client: server)
    }

    deinit { inProcess?.close() }

    /// Who is named as the one who answers.
    var authority: String { inProcess == nil ? url.authority : "settle" }

    /// A position of the database's changes, for those who use it: of a folder it is a number.
    func position(_ sequence: JSONValue) -> JSONValue {
        guard inProcess != nil, let number = PeerSequence(sequence).number else { return sequence }
        return .number(JSONNumber(number))
    }

    /// Waits for what the server of a folder does after its answers, because it ends with the verb.
    func finish() throws {
        guard let inProcess else { return }
        try wait { _, _ in try await inProcess.finishIndexing() }
    }

    /// Shows how far the index is that a request in this process waits for.
    private func showIndexing(_ bar: ProgressBar) {
        guard let (done, total) = inProcess?.indexing else { return }
        bar.update(
            "Indexing", fraction: Double(done) / Double(max(total, 1)),
            "\(Quantity.grouped(done)) of \(Quantity.of(total, "change"))")
    }

    /// Waits for requests to the database.
    ///
    /// - Parameters:
    ///   - document: What they are about, for messages.
    ///   - meanwhile: What this thread does meanwhile.
    ///   - work: Sends them.
    /// - Returns: What comes of them.
    /// - Throws: ``CommandError``.
    func wait<Value: Sendable>(
        about document: DocumentID? = nil, meanwhile: () throws -> Void = {},
        for work: @escaping @Sendable (CouchDBConnection, CouchDBPeer) async throws -> Value
    ) throws -> Value {
        let bar = ProgressBar(console)
        defer { bar.finish() }
        do {
            return try Waiting.wait(
                meanwhile: meanwhile, whileWaiting: { showIndexing(bar) },
                for: { [connection, peer] in try await work(connection, peer) })
        } catch { throw failure(about: document).explained(error) }
    }

    /// Tells failures of requests to the database.
    func failure(about document: DocumentID? = nil) -> ClientFailure {
        ClientFailure(name: name, authority: authority, document: document)
    }

    /// Sends a request and waits for its JSON.
    @discardableResult
    func json(
        _ method: String = "GET", _ path: HTTPPath = "", query: HTTPQuery = HTTPQuery(), body: JSONValue? = nil,
        about document: DocumentID? = nil
    ) throws -> JSONValue {
        try wait(about: document) { connection, _ in
            try await connection.json(method, path, query: query, body: body, limit: 1 << 30).json
        }
    }

    /// Sends JSON text and waits for the JSON that comes back.
    func send(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = [:], _ text: [UInt8], about document: DocumentID? = nil
    ) throws -> JSONValue {
        try wait(about: document) { connection, _ in
            let response = try await connection.stream(method, path, query: query, body: .bytes(text)) { request in
                request.headers["Content-Type"] = "application/json"
                request.headers["Accept"] = "application/json"
            }
            return try JSONValue(utf8: try await response.collect(limit: 64 << 20))
        }
    }

    /// What the database says of itself.
    ///
    /// - Throws: ``CommandError`` with status `notFound`, or `damaged` when the URL is not a CouchDB server.
    func info() throws -> JSONValue {
        let info = try json()
        guard info["update_seq"] != nil, info["doc_count"] != nil else {
            throw failure().explained(TransportError(.badAnswer, "no database"))
        }
        return info
    }

    /// The members that every tombstone of the database keeps. A server that keeps none says nothing of them.
    func attributesKeptOnDelete() throws -> Set<String> {
        if let keptAttributes { return keptAttributes }
        let names = Set((try json()["attributes_kept_on_delete"]?.array ?? []).compactMap(\.string))
        keptAttributes = names
        return names
    }

    /// What CouchDB has no members for; `nil` if the server is not Settle, or does not show it to the user.
    func details() throws -> JSONValue? {
        guard try isAtSettle() else { return nil }
        do { return try json("GET", "_info") } catch let error as CommandError
            where [.refused, .notFound].contains(error.status)
        { return nil }
    }

    /// Whether the database is at a Settle server, which has calls that CouchDB does not have.
    func isAtSettle() throws -> Bool {
        if let isSettle { return isSettle }
        let product = try wait { _, peer in try await peer.product() }
        try Interruption.check()
        isSettle = product == "Settle"
        return product == "Settle"
    }

    /// Makes the database unless it is there.
    func createUnlessThere() throws {
        do { _ = try info() } catch let error as CommandError where error.status == .notFound {
            do { try json("PUT") } catch let error as CommandError where error.code == "exists" {}
        }
    }

    /// Goes over an array of an answer while it arrives, in memory for one element.
    ///
    /// - Parameters:
    ///   - member: The member of the answer that is the array.
    ///   - path: What is asked.
    ///   - query: The query string.
    ///   - body: Is given each element as JSON text, and says whether to go on.
    /// - Throws: ``CommandError``, or what `body` throws.
    func forEachElement(
        _ member: String, of path: HTTPPath, query: HTTPQuery, _ body: ([UInt8]) throws -> Bool
    ) throws {
        try forEachElement(member, of: try stream(path, query: query), body)
    }

    /// Goes over an array of an answer that has begun.
    ///
    /// - Returns: The other members of the answer; none when the closure wanted no more.
    @discardableResult
    func forEachElement(
        _ member: String, of response: HTTPResponse, _ body: ([UInt8]) throws -> Bool
    ) throws -> JSONObject {
        var elements = JSONElements(of: member, longestElement: Self.longestElement)
        var problem: (any Error)?
        do {
            let next = pieces(of: response)
            while let piece = try next() {
                let goesOn = try elements.parse(piece) { element in
                    do {
                        guard case .bytes(let text) = element else { throw Self.overlong }
                        return try body(Array(text))
                    } catch {
                        problem = error
                        return false
                    }
                }
                if let problem { throw problem }
                if !goesOn { return JSONObject() }
            }
            return try elements.finish()
        } catch let fault as JSONElements.Fault { throw failure().explained(fault) }
    }

    static let longestElement = 1 << 30
    static var overlong: CommandError {
        CommandError("document_too_large", "the server sent a document of more than 1 GiB", status: .refused)
    }

    /// Sends a request, a `POST` if it has a body, and waits for the head of its answer.
    func stream(
        _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), body: JSONValue? = nil, about document: DocumentID? = nil,
        adjust: @escaping @Sendable (inout HTTPRequest) -> Void = { $0.acceptsCompression = true }
    ) throws -> HTTPResponse {
        try wait(about: document) { connection, _ in
            let bytes = body.map { HTTPBody.bytes($0.utf8) } ?? .none
            return try await connection.stream(body == nil ? "GET" : "POST", path, query: query, body: bytes) {
                request in
                request.headers["Accept"] = "application/json"
                if body != nil { request.headers["Content-Type"] = "application/json" }
                adjust(&request)
            }
        }
    }

    /// Sends a request that may have to wait until an index is built, however long that takes, and waits for the head of
    /// its answer.
    func streamPatiently(
        _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), body: JSONValue? = nil
    ) throws -> HTTPResponse {
        try stream(path, query: query, body: body) { request in
            request.acceptsCompression = true
            request.idleTimeout = nil
        }
    }

    /// Begins to read the pieces of an answer.
    ///
    /// - Returns: What waits for the next piece; `nil` after the last.
    func pieces(of response: HTTPResponse) -> () throws -> [UInt8]? {
        let next = response.body.open()
        return { try self.wait { _, _ in try await next() } }
    }
}

// MARK: - Compaction

/// Compaction of the database.
extension Client {
    /// Has a server compact the database, which answers before it begins.
    func startCompaction() throws { try json("POST", "_compact", body: .object(JSONObject())) }

    /// Compacts the database and waits until that is done.
    ///
    /// - Parameter bar: Shows how far it is. Ctrl-C ends a folder's compaction, which keeps what it has done; at a server it
    ///   ends the waiting alone.
    /// - Returns: How many `bytes` smaller the database is and, where that is known, how many `bodies` and `attachments` were
    ///   removed.
    /// - Throws: ``CommandError``, also if the server reports that the compaction failed.
    func compact(_ bar: ProgressBar) throws -> JSONValue {
        let (size, earlier) = (try fileSize(), try details()?["compaction"])
        try startCompaction()
        defer { bar.finish() }
        var pause = 5
        while true {
            let share = try compactionShare()
            // Reads fill caches beside the compaction's, so a task that runs is proof enough.
            if share == nil, try info()["compact_running"] != true { break }
            bar.update("Compacting", fraction: share, share == nil ? "waits for its turn" : "")
            try Waiting.wait { [pause] in try await Task.sleep(for: .milliseconds(pause)) }
            try Interruption.check()
            pause = min(2 * pause, 200)
        }
        // Another node of the server's may have compacted it.
        guard var done = try details()?["compaction"], done["number"] != earlier?["number"] else {
            return ["bytes": .number(JSONNumber(size - (try fileSize())))]
        }
        if let code = done["error"]?.string {
            throw CommandError(DatabaseError(DatabaseErrorCode(name: code), done["reason"]?.string ?? ""))
        }
        done["number"] = nil
        return done
    }

    private func fileSize() throws -> Int64 { Int64(try info()["sizes"]?["file"]?.int ?? 0) }

    /// How much of it is done; `nil` when the server does not tell, or tells others only. A cluster has a task for each shard.
    private func compactionShare() throws -> Double? {
        let name = url.databaseName ?? ""
        let tasks: JSONValue
        do { tasks = try serverJSON("_active_tasks") } catch let error as CommandError where error.status == .refused {
            return nil
        }
        let mine = (tasks.array ?? []).filter { task in
            let database = task["database"]?.string ?? ""
            return task["type"] == "database_compaction" && (database == name || database.contains("/\(name)."))
        }
        let shares = mine.compactMap { $0["progress"]?.int }
        return shares.isEmpty ? nil : Double(shares.reduce(0, +)) / Double(100 * shares.count)
    }

    /// Sends a request to the server of the database.
    func serverJSON(
        _ path: HTTPPath, method: String = "GET", query: HTTPQuery = HTTPQuery(), body: JSONValue? = nil
    ) throws -> JSONValue {
        try wait { connection, _ in
            try await connection.server.json(method, path, query: query, body: body, limit: 1 << 30).json
        }
    }
}

// MARK: - Waiting

/// Lets a verb, which runs on the main thread, wait for work of the concurrency pool.
///
///     main thread   ──┐ begins a task            ┌─▶ goes on with its result
///                     └ looks for Ctrl-C, waits ─┘
///     pool               requests, answers: nothing here blocks
///
/// Ctrl-C while it waits cancels the work. What is begun after it, to leave things whole, is not cancelled.
enum Waiting {
    /// Does some work and returns what comes of it.
    ///
    /// - Parameters:
    ///   - meanwhile: What this thread does meanwhile; when it throws, the work is cancelled.
    ///   - whileWaiting: Called several times a second while this thread waits.
    ///   - work: The work.
    /// - Returns: What comes of it.
    /// - Throws: What the work or `meanwhile` throws, or ``CommandError/interrupted``.
    static func wait<Value: Sendable>(
        meanwhile: () throws -> Void = {}, whileWaiting: () -> Void = {},
        for work: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let outcome = Promise<Result<Value, any Error>>()
        let task = Task.detached {
            do { outcome.fulfil(.success(try await work())) } catch { outcome.fulfil(.failure(error)) }
        }
        let wasInterrupted = Interruption.isWanted
        do { try meanwhile() } catch {
            task.cancel()
            _ = outcome.wait()
            throw error
        }
        var isCancelled = false
        while true {
            if let result = outcome.wait(seconds: 0.05) {
                if isCancelled, case .failure = result { throw CommandError.interrupted }
                return try result.get()
            }
            whileWaiting()
            guard Interruption.isWanted, !wasInterrupted, !isCancelled else { continue }
            task.cancel()
            isCancelled = true
        }
    }
}
