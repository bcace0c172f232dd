public import SettleDatabase

/// The reason why a request got no response, or an incomplete one.
///
/// A response with an error status is a ``CouchDBError`` instead.
public struct TransportError: SettleError, Sendable {
    /// The kind of failure.
    public let code: TransportErrorCode
    /// The problem, with the host and port, and what to do; without user, password and query.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: TransportErrorCode, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether the same request may succeed later, because the network is down, the server restarts, or the
    /// connection broke.
    ///
    /// Invalid addresses, certificates and bodies are permanent errors, and a cancelled task is not retried.
    public var isTransient: Bool { Self.transient.contains(code) }

    /// Whether the server could not be reached at all, which a replicator reports as offline.
    public var isOffline: Bool { [.cannotResolve, .cannotConnect].contains(code) }

    private static let transient: Set<TransportErrorCode> = [
        .cannotResolve, .cannotConnect, .timedOut, .connectionLost, .badAnswer, .proxyFailed,
    ]

    /// The code, the message and the cause in one line.
    public var description: String { "\(code): \(message)" + DatabaseError.text(of: cause, after: message) }
}

/// The kinds of failure of an HTTP client; more may be added.
public struct TransportErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as `--json` output has it.
    public let name: String

    /// An address is invalid, or not allowed.
    public static let badURL = TransportErrorCode(name: "bad_url")
    /// A request has an invalid method or header.
    public static let badRequest = TransportErrorCode(name: "bad_request")
    /// The host name is unknown, or no resolver could be reached.
    public static let cannotResolve = TransportErrorCode(name: "cannot_resolve")
    /// No server listens at the address, or it can't be reached.
    public static let cannotConnect = TransportErrorCode(name: "cannot_connect")
    /// The TLS handshake failed, or a file for TLS can't be read.
    public static let tlsFailed = TransportErrorCode(name: "tls_failed")
    /// The server's certificate is not trusted, is for another host, or does not have the pinned key.
    public static let certificateRejected = TransportErrorCode(name: "certificate_rejected")
    /// Nothing arrived for too long, or the request took too long.
    public static let timedOut = TransportErrorCode(name: "timed_out")
    /// The connection ended before the response was complete.
    public static let connectionLost = TransportErrorCode(name: "connection_lost")
    /// The response is not HTTP.
    public static let badAnswer = TransportErrorCode(name: "bad_answer")
    /// A body is longer than the caller accepts.
    public static let bodyTooLarge = TransportErrorCode(name: "body_too_large")
    /// The request body could not be produced; the cause is the producer's error.
    public static let bodyFailed = TransportErrorCode(name: "body_failed")
    /// The task was cancelled.
    public static let cancelled = TransportErrorCode(name: "cancelled")
    /// The proxy can't be reached, or refuses the request.
    public static let proxyFailed = TransportErrorCode(name: "proxy_failed")
    /// A server redirects too often, or to an address that is not allowed.
    public static let badRedirect = TransportErrorCode(name: "bad_redirect")
    /// The client failed in another way.
    public static let failed = TransportErrorCode(name: "failed")

    init(name: String) { self.name = name }

    /// The code's name.
    public var description: String { name }
}
