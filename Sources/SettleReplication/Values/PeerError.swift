public import SettleDatabase

/// Why a call to a peer failed.
public struct PeerError: SettleError, Sendable {
    /// The kinds of failure of a peer; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as `--json` output has it.
        public let name: String

        /// The host can't be reached: the network is down, no server listens, or its name is unknown.
        public static let unreachable = Code(name: "unreachable")
        /// The connection was lost, or the response was truncated.
        public static let connectionLost = Code(name: "connection_lost")
        /// No response arrived in time.
        public static let timedOut = Code(name: "timed_out")
        /// The certificate or the TLS connection was not accepted.
        public static let insecure = Code(name: "insecure")
        /// The credentials were rejected, or none were given; the message says which were tried.
        public static let unauthorized = Code(name: "unauthorized")
        /// The user may not do this, or a validation refused a document.
        public static let forbidden = Code(name: "forbidden")
        /// The database, document or filter does not exist.
        public static let notFound = Code(name: "not_found")
        /// A local document was written meanwhile, or a revision would have become a branch and branches are refused.
        public static let conflict = Code(name: "conflict")
        /// A document, an attachment or a request is larger than the peer accepts.
        public static let tooLarge = Code(name: "too_large")
        /// The peer asks the client to retry later.
        public static let busy = Code(name: "busy")
        /// The peer failed internally.
        public static let serverError = Code(name: "server_error")
        /// The peer did not understand the request, or does not support it.
        public static let badRequest = Code(name: "bad_request")
        /// The peer's response violates the protocol.
        public static let badAnswer = Code(name: "bad_answer")
        /// An attachment does not match its digest, or its content is lost.
        public static let attachmentMissing = Code(name: "attachment_missing")
        /// The local database failed; the cause is its ``DatabaseError``.
        public static let database = Code(name: "database")
        /// The call was cancelled.
        public static let cancelled = Code(name: "cancelled")

        init(name: String) { self.name = name }

        /// The code's name.
        public var description: String { name }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, where, and what to do; it never contains a secret.
    public let message: String
    /// The HTTP status, if the peer sent one.
    public let status: Int?
    /// How long the peer asks to wait before retrying.
    public let retryAfter: Duration?
    /// Whether the same call may succeed later (SEMANTICS 113).
    public let isTransient: Bool
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, where, and what to do, without secrets.
    ///   - status: The HTTP status, if there is one.
    ///   - retryAfter: How long the peer asks to wait.
    ///   - isTransient: Whether the same call may succeed later. Unless given, it depends on the code: `unreachable`,
    ///     `connectionLost`, `timedOut`, `busy`, `serverError` and `badAnswer` are transient.
    ///   - cause: The underlying error.
    package init(
        _ code: Code, _ message: String, status: Int? = nil, retryAfter: Duration? = nil, isTransient: Bool? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.isTransient = isTransient ?? Self.transient.contains(code)
        self.cause = cause
    }

    private static let transient: Set<Code> = [
        .unreachable, .connectionLost, .timedOut, .busy, .serverError, .badAnswer,
    ]

    /// The code, the message and the cause in one line.
    public var description: String { "\(code): \(message)" + DatabaseError.text(of: cause, after: message) }
}
