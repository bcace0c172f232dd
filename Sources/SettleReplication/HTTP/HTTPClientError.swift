/// Why a request got no response, or an incomplete one.
///
/// A response with a status that means failure is a ``CouchDBError`` instead.
public struct HTTPClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public let code: HTTPClientErrorCode
    /// What happened, with the host and port, and what to do; without user, password and query.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: HTTPClientErrorCode, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether the same request may succeed later unchanged: the network is down, the server restarts, or the
    /// connection broke.
    ///
    /// Invalid addresses, certificates and bodies are permanent errors, and a cancelled task is not retried.
    public var isTransient: Bool { Self.transient.contains(code) }

    /// Whether the server could not be reached at all, which a replicator reports as offline.
    public var isOffline: Bool { [.cannotResolve, .cannotConnect].contains(code) }

    private static let transient: Set<HTTPClientErrorCode> = [
        .cannotResolve, .cannotConnect, .timedOut, .connectionLost, .badAnswer, .proxyFailed,
    ]

    /// The code, the message and the cause in one line.
    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }
}
