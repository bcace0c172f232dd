internal import SettleCore
public import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// An error response of CouchDB, or of a server that speaks its protocol.
public struct CouchDBError: SettleError, Sendable {
    /// The status of the response.
    public let status: Int
    /// The error's name, like `conflict`; empty if the response was not CouchDB's.
    public let error: String
    /// The human-readable reason from the server.
    public let reason: String
    /// The method of the request.
    public let method: String
    /// The path of the request, without its query.
    public let path: String
    /// How long to wait before retrying, if the server sent it.
    public let retryAfter: Duration?
    /// The credentials that were tried if the status is 401, like `basic authentication as 'anna'`.
    public let tried: String?

    /// Creates an error.
    package init(
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

    /// Whether the same request may succeed later.
    public var isTransient: Bool { Self.transientStatuses.contains(status) }

    /// The statuses of transient failures (SEMANTICS 113).
    private static let transientStatuses: Set = [408, 429, 500, 502, 503, 504]

    /// The request, the status, the name, the reason and the tried credentials in one line.
    public var description: String {
        let parts = ["\(method) \(path.isEmpty ? "/" : path) was answered \(status)", error, reason]
        return parts.filter { !$0.isEmpty }.joined(separator: ": ") + (tried.map { " (tried \($0))" } ?? "")
    }

    /// Reads an error response.
    init(reading response: HTTPResponse, of request: HTTPRequest, tried: String) async throws {
        let body = try await response.collect(limit: 1 << 20)
        let json = try? JSONValue(utf8: body)
        self.init(
            status: response.status, error: json?["error"]?.string ?? "",
            reason: String((json?["reason"]?.string ?? "").prefix(1000)), method: request.method,
            path: request.url.path, retryAfter: RetryAfter.read(response.headers), tried: tried)
    }
}

/// The header `Retry-After`.
enum RetryAfter {
    /// The time to wait: in seconds, or until a date. A date is compared with the server's clock if the response
    /// has it.
    static func read(
        _ headers: HTTPHeaders, now: @autoclosure () -> Double = Authorizer.systemTime
    ) -> Duration? {
        guard let value = headers["Retry-After"] else { return nil }
        if let seconds = Int64(value) { return seconds >= 0 ? .seconds(min(seconds, 1 << 31)) : nil }
        guard let date = HTTPDate.seconds(of: value) else { return nil }
        let present = headers["Date"].flatMap { HTTPDate.seconds(of: $0) } ?? now()
        return .seconds(max(0, date - present))
    }
}
