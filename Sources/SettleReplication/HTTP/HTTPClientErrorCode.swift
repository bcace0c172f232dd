/// The kinds of failure of an HTTP client; more may be added.
public struct HTTPClientErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as `--json` output has it.
    public let name: String

    /// An address is none, or leads where it may not.
    public static let badURL = HTTPClientErrorCode(name: "bad_url")
    /// A request has a method or a header that can't be sent.
    public static let badRequest = HTTPClientErrorCode(name: "bad_request")
    /// The name of the host is not known, or nobody could be asked.
    public static let cannotResolve = HTTPClientErrorCode(name: "cannot_resolve")
    /// Nobody listens there, or the way there is cut.
    public static let cannotConnect = HTTPClientErrorCode(name: "cannot_connect")
    /// TLS could not be agreed on, or a file that it needs can't be read.
    public static let tlsFailed = HTTPClientErrorCode(name: "tls_failed")
    /// The server's certificate is not trusted, is for another host, or has not the pinned key.
    public static let certificateRejected = HTTPClientErrorCode(name: "certificate_rejected")
    /// Nothing arrived for too long, or the whole took too long.
    public static let timedOut = HTTPClientErrorCode(name: "timed_out")
    /// The connection ended before the answer did.
    public static let connectionLost = HTTPClientErrorCode(name: "connection_lost")
    /// What arrives is no HTTP.
    public static let badAnswer = HTTPClientErrorCode(name: "bad_answer")
    /// A body is longer than the caller takes.
    public static let bodyTooLarge = HTTPClientErrorCode(name: "body_too_large")
    /// The body that was to be sent could not be made; the cause is what its producer threw.
    public static let bodyFailed = HTTPClientErrorCode(name: "body_failed")
    /// The task was cancelled.
    public static let cancelled = HTTPClientErrorCode(name: "cancelled")
    /// The proxy can't be reached, or refuses.
    public static let proxyFailed = HTTPClientErrorCode(name: "proxy_failed")
    /// A server leads on too often, or to where it may not.
    public static let badRedirect = HTTPClientErrorCode(name: "bad_redirect")
    /// The client failed in another way.
    public static let failed = HTTPClientErrorCode(name: "failed")

    init(name: String) { self.name = name }

    /// The code's name.
    public var description: String { name }
}
