internal import RevisionTree

/// What a CouchDB, or a server that speaks like one, refused, and why.
public struct CouchDBError: Error, Sendable, CustomStringConvertible {
    /// The status of the answer.
    public let status: Int
    /// The error's name, as in `conflict`; empty when the answer was no CouchDB's.
    public let error: String
    /// The reason for people to read, as the server told it.
    public let reason: String
    /// The method of the request.
    public let method: String
    /// The path of the request, without its query.
    public let path: String
    /// How long to wait before the next try, as the server told it.
    public let retryAfter: Duration?
    /// With what credentials it was tried, where the answer is 401, as in `basic authentication as 'anna'`.
    public let tried: String?

    /// Makes an error.
    public init(
        status: Int, error: String, reason: String, method: String, path: String, retryAfter: Duration? = nil,
        tried: String? = nil
    ) {
        self.status = status
        self.error = error
        self.reason = reason
        self.method = method
        self.path = path
        self.retryAfter = retryAfter
        self.tried = status == 401 ? tried : nil
    }

    /// Whether the same request may succeed later without anybody doing anything.
    public var isTransient: Bool { Self.transientStatuses.contains(status) }

    /// The statuses after which the same request may succeed (SEMANTICS 113).
    private static let transientStatuses: Set = [408, 429, 500, 502, 503, 504]

    /// Request, status, name and reason in one line, and what was tried.
    public var description: String {
        let parts = ["\(method) \(path.isEmpty ? "/" : path) was answered \(status)", error, reason]
        return parts.filter { !$0.isEmpty }.joined(separator: ": ") + (tried.map { " (tried \($0))" } ?? "")
    }

    /// Reads an answer that means failure.
    init(reading response: HTTPClientResponse, of request: HTTPClientRequest, tried: String) async throws {
        let body = try await response.collect(limit: 1 << 20)
        let json = try? JSON(utf8: body)
        self.init(
            status: response.status, error: json?["error"]?.string ?? "",
            reason: String((json?["reason"]?.string ?? "").prefix(1000)), method: request.method,
            path: request.url.path, retryAfter: RetryAfter.read(response.headers), tried: tried)
    }
}
