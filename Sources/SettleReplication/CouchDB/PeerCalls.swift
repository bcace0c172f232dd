internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Sends requests to a peer's database. All errors are ``PeerError``.
struct PeerCalls: Sendable {
    /// The maximum size of a response that is read as a whole, in bytes.
    private static let longestAnswer = 64 << 20

    private let connection: CouchDBConnection

    init(_ connection: CouchDBConnection) { self.connection = connection }

    /// The calls to the server's root.
    var server: PeerCalls { PeerCalls(connection.server) }

    /// A request's address in messages: the host and the path.
    func place(_ path: HTTPPath = "") -> String { connection.url.authority + connection.url.appending(path).path }

    /// Sends a request and returns when the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the database.
    ///   - query: The query parameters.
    ///   - body: The JSON to send; `nil` for none.
    ///   - adjust: Sets headers and timeouts.
    /// - Returns: The response; its body may still be arriving.
    /// - Throws: ``PeerError``, also for an error response.
    func stream(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), json body: [UInt8]? = nil,
        adjust: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> HTTPResponse {
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

    /// Sends a request and reads its response.
    func bytes(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), json body: [UInt8]? = nil,
        adjust: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let response = try await stream(method, path, query: query, json: body, adjust: adjust)
        do { return try await response.collect(limit: Self.longestAnswer) } catch {
            throw PeerError(error, at: place(path))
        }
    }

    /// Sends a request and reads its response as JSON.
    func json(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), json body: [UInt8]? = nil
    ) async throws -> JSONValue {
        let bytes = try await bytes(method, path, query: query, json: body)
        do { return try JSONValue(utf8: bytes) } catch { throw PeerError(error, at: place(path)) }
    }

    /// Sends a request and reads its response as JSON, with the server's time in seconds since 1970 if it sends one.
    func datedJSON(_ method: String, _ path: HTTPPath) async throws -> (json: JSONValue, date: Double?) {
        let response = try await stream(method, path)
        do {
            let json = try JSONValue(utf8: await response.collect(limit: Self.longestAnswer))
            return (json, response.headers["Date"].flatMap { HTTPDate.seconds(of: $0) })
        } catch { throw PeerError(error, at: place(path)) }
    }

    /// Streams the elements of an array in a response, and returns the other members.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - path: The path requested.
    ///   - member: The member that is the array.
    ///   - longest: The maximum size of an element in bytes.
    ///   - body: Called with each element; returns whether to continue.
    /// - Returns: The other members; `nil` if `body` stopped early.
    /// - Throws: ``PeerError`` for a response that is truncated or malformed.
    func elements(
        of response: HTTPResponse, _ path: HTTPPath, _ member: String, longest: Int,
        _ body: (JSONElements.Element) throws -> Bool
    ) async throws -> JSONObject? {
        do {
            var elements = JSONElements(of: member, longestElement: longest)
            for try await piece in response.body {
                guard try elements.parse(piece, body) else { return nil }
            }
            return try elements.finish()
        } catch { throw PeerError(error, at: place(path)) }
    }
}

// MARK: - WireRequests

/// The bodies of requests about many documents, written without building JSON values.
enum WireRequests {
    /// The body of `_bulk_get`.
    ///
    /// - Parameters:
    ///   - requests: The revisions.
    ///   - tellsKnown: Whether to list the target's ancestors, so that the server may leave out attachments that
    ///     they have.
    /// - Returns: The body.
    static func bulkGet(_ requests: some Collection<RevisionRequest>, tellsKnown: Bool) -> [UInt8] {
        var bytes = Array("{\"docs\":[".utf8)
        bytes.reserveCapacity(requests.count * 96)
        for (index, request) in requests.enumerated() {
            bytes += Array((index > 0 ? ",{\"id\":" : "{\"id\":").utf8)
            JSONValue.append(request.id.string, to: &bytes)
            bytes += Array(",\"rev\":".utf8)
            append(request.revision, to: &bytes)
            if tellsKnown, !request.knownAncestors.isEmpty {
                bytes += Array(",\"atts_since\":".utf8)
                append(request.knownAncestors, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes += Array("]}".utf8)
        return bytes
    }

    /// The body of `_revs_diff`. Of rows with the same id, only the first is included.
    static func revisionsDiff(_ changes: some Sequence<ChangedDocument>) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for change in changes {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONValue.append(change.id.string, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            append(change.leaves, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Appends a list of revisions.
    static func append(_ revisions: [RevisionID], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, revision) in revisions.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(revision, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private static func append(_ revision: RevisionID, to bytes: inout [UInt8]) {
        JSONValue.append(revision.description, to: &bytes)
    }
}
