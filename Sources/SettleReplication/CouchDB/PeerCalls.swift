internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

/// Requests to the database of a peer, whose failures are all ``PeerError``.
struct PeerCalls: Sendable {
    /// How large an answer may be that is read as a whole, in bytes.
    private static let longestAnswer = 64 << 20

    private let connection: CouchDBConnection

    init(_ connection: CouchDBConnection) { self.connection = connection }

    /// The same for the server of the database.
    var server: PeerCalls { PeerCalls(connection.server) }

    /// How messages name what is asked: the host and the path.
    func place(_ path: HTTPPath = "") -> String { connection.url.authority + connection.url.appending(path).path }

    /// Sends a request and returns when the head of its answer is there.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the database.
    ///   - query: What is asked behind the path.
    ///   - body: JSON to send; `nil` for nothing.
    ///   - adjust: Sets headers and timeouts.
    /// - Returns: The answer, whose body comes by and by.
    /// - Throws: ``PeerError``, also for a status that means failure.
    func stream(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), json body: [UInt8]? = nil,
        adjust: (inout HTTPClientRequest) -> Void = { _ in }
    ) async throws -> HTTPClientResponse {
        do {
            return try await connection.stream(
                method, path, query: query, body: body.map { .bytes($0) } ?? .none
            ) { request in
                request.acceptsCompression = true
                request.headers["Accept"] = "application/json"
                if body != nil { request.headers["Content-Type"] = "application/json" }
                adjust(&request)
            }
        } catch { throw PeerError(error, at: place(path)) }
    }

    /// Sends a request and reads its answer.
    func bytes(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), json body: [UInt8]? = nil,
        adjust: (inout HTTPClientRequest) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let response = try await stream(method, path, query: query, json: body, adjust: adjust)
        do { return try await response.collect(limit: Self.longestAnswer) } catch {
            throw PeerError(error, at: place(path))
        }
    }

    /// Sends a request and reads its answer as JSON.
    func json(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), json body: [UInt8]? = nil
    ) async throws -> JSON {
        let bytes = try await bytes(method, path, query: query, json: body)
        do { return try JSON(utf8: bytes) } catch { throw PeerError(error, at: place(path)) }
    }

    /// Sends a request and reads its answer as JSON, with the server's time, in seconds since 1970, where it is told.
    func datedJSON(_ method: String, _ path: HTTPPath) async throws -> (json: JSON, date: Double?) {
        let response = try await stream(method, path)
        do {
            let json = try JSON(utf8: await response.collect(limit: Self.longestAnswer))
            return (json, response.headers["Date"].flatMap { HTTPDate.seconds(of: $0) })
        } catch { throw PeerError(error, at: place(path)) }
    }

    /// Takes the array of an answer apart as it arrives, and returns what stands around it.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - path: What was asked for it.
    ///   - member: The member that is the array.
    ///   - longest: How many bytes an element may have.
    ///   - body: Is given each element, and says whether to go on.
    /// - Returns: The other members; `nil` when `body` had enough.
    /// - Throws: ``PeerError`` for an answer that is cut off, or none.
    func elements(
        of response: HTTPClientResponse, _ path: HTTPPath, _ member: String, longest: Int,
        _ body: (JSONElements.Element) throws -> Bool
    ) async throws -> JSONObject? {
        do {
            var elements = JSONElements(of: member, longestElement: longest)
            for try await piece in response.body {
                guard try elements.take(piece, body) else { return nil }
            }
            return try elements.finish()
        } catch { throw PeerError(error, at: place(path)) }
    }
}
