/// Why a request got no answer, or not all of it.
///
/// An answer with a status that means failure is no such error: see ``CouchDBError``.
public struct HTTPClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public let code: HTTPClientErrorCode
    /// What happened, with which host and port, and what to do; without user, password and query.
    public let message: String
    /// The error underneath, where there is one.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ code: HTTPClientErrorCode, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether the same request may succeed later without anybody doing anything: the network is away, the server restarts,
    /// or the connection broke.
    ///
    /// A wrong address, certificate or body stays wrong, and a cancelled task was meant to end.
    public var isTransient: Bool { Self.transient.contains(code) }

    /// Whether the server could not be reached at all, which a replicator shows as being offline.
    public var isOffline: Bool { [.cannotResolve, .cannotConnect].contains(code) }

    private static let transient: Set<HTTPClientErrorCode> = [
        .cannotResolve, .cannotConnect, .timedOut, .connectionLost, .badAnswer, .proxyFailed,
    ]

    /// The code, the message and the cause in one line.
    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }
}
