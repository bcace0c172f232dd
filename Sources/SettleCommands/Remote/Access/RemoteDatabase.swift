internal import Settle

/// A database behind CouchDB's HTTP API, asked by a verb that waits for each answer.
final class RemoteDatabase {
    /// Its address, without user and password.
    let url: HTTPURL
    private let connection: CouchDBConnection
    private let peer: CouchDBPeer

    /// Makes one; nothing is sent yet. From now on Ctrl-C ends what is waited for.
    init(_ url: HTTPURL, arguments: Arguments, console: Console) throws {
        guard url.databaseName != nil else {
            throw CommandError.usage("\(url) names a server; put the name of a database behind it")
        }
        Interruption.watch()
        let options = RemoteOptions(arguments: arguments, console: console)
        let (client, credentials) = (try options.client(), try options.credentials(for: url))
        self.url = url.withoutCredentials
        connection = CouchDBConnection(database: self.url, client: client, credentials: credentials) { warning in
            console.complain("settle: \(warning)", json: ["warning": .string(warning)])
        }
        peer = try CouchDBPeer(self.url, credentials: credentials, client: client)
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
        do {
            return try Waiting.wait(meanwhile: meanwhile) { [connection, peer] in try await work(connection, peer) }
        } catch { throw RemoteFailure(url: url, document: document).told(error) }
    }

    /// Sends a request and waits for its JSON.
    @discardableResult
    func json(
        _ method: String = "GET", _ path: HTTPPath = "", query: HTTPQuery = HTTPQuery(), body: JSON? = nil,
        about document: DocumentID? = nil
    ) throws -> JSON {
        try wait(about: document) { connection, _ in
            try await connection.json(method, path, query: query, body: body, limit: 1 << 30).json
        }
    }

    /// What the database says of itself.
    ///
    /// - Throws: ``CommandError`` with status `notFound`, or `damaged` when the URL is not a CouchDB server.
    func info() throws -> JSON {
        let info = try json()
        guard info["update_seq"] != nil, info["doc_count"] != nil else {
            throw RemoteFailure(url: url).told(HTTPClientError(.badAnswer, "no database"))
        }
        return info
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
    ///   - query: What is asked behind it.
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
        _ member: String, of response: HTTPClientResponse, _ body: ([UInt8]) throws -> Bool
    ) throws -> JSONObject {
        var elements = JSONElements(of: member, longestElement: Self.longestElement)
        var problem: (any Error)?
        do {
            while let piece = try next(of: response) {
                let goesOn = try elements.take(piece) { element in
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
        } catch let fault as JSONElements.Fault { throw RemoteFailure(url: url).told(fault) }
    }

    private static let longestElement = 1 << 30
    private static var overlong: CommandError {
        CommandError("document_too_large", "the server sent a document of more than 1 GiB", status: .refused)
    }

    /// Sends a request and waits for the head of its answer.
    func stream(
        _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), about document: DocumentID? = nil,
        adjust: @escaping @Sendable (inout HTTPClientRequest) -> Void = { $0.acceptsCompression = true }
    ) throws -> HTTPClientResponse {
        try wait(about: document) { connection, _ in
            try await connection.stream("GET", path, query: query) { request in
                request.headers["Accept"] = "application/json"
                adjust(&request)
            }
        }
    }

    /// Sends a request that may have to wait until an index is built, however long that takes, and waits for the head of
    /// its answer.
    func streamPatiently(
        _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), body: JSON? = nil
    ) throws -> HTTPClientResponse {
        try wait { connection, _ in
            let bytes = body.map { HTTPClientRequestBody.bytes($0.utf8) } ?? .none
            return try await connection.stream(body == nil ? "GET" : "POST", path, query: query, body: bytes) {
                request in
                request.headers["Accept"] = "application/json"
                if body != nil { request.headers["Content-Type"] = "application/json" }
                request.acceptsCompression = true
                request.idleTimeout = nil
            }
        }
    }

    /// Waits for the next piece of an answer; `nil` behind the last.
    func next(of response: HTTPClientResponse) throws -> [UInt8]? {
        try wait { _, _ in
            var pieces = response.body.makeAsyncIterator()
            return try await pieces.next()
        }
    }
}
