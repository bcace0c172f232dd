internal import SettleCore
public import SettleDatabase
internal import SettleHTTP

/// The reason why a call to a peer failed.
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
        /// The credentials were rejected, or there were none; the message says which were tried.
        public static let unauthorized = Code(name: "unauthorized")
        /// The user may not do this, or a validation refused a document.
        public static let forbidden = Code(name: "forbidden")
        /// The database, document or filter does not exist.
        public static let notFound = Code(name: "not_found")
        /// A local document was written meanwhile, or a revision would have become a branch although branches are
        /// refused.
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

    /// The kind of the failure.
    public let code: Code
    /// The problem, the place, and what to do; without secrets.
    public let message: String
    /// The HTTP status, if the peer sent one.
    public let status: Int?
    /// The time that the peer asks to wait before retrying.
    public let retryAfter: Duration?
    /// Whether the same call may succeed later (SEMANTICS 113).
    public let isTransient: Bool
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: The problem, the place, and what to do, without secrets.
    ///   - status: The HTTP status, if there is one.
    ///   - retryAfter: The time that the peer asks to wait.
    ///   - isTransient: Whether the same call may succeed later. By default it depends on the code: `unreachable`,
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

// MARK: - Database

extension PeerError {
    /// Maps the failure of a local database.
    init(_ error: DatabaseError, of name: String) {
        let message = "\(name): \(error.message)"
        switch error.code {
        case .refused:
            self.init(.forbidden, message, status: (error.cause as? DocumentRejection)?.status ?? 403, cause: error)
        case .conflict: self.init(.conflict, message, status: 409, cause: error)
        case .documentTooLarge: self.init(.tooLarge, message, status: 413, cause: error)
        case .attachmentMissing: self.init(.attachmentMissing, message, cause: error)
        case .invalid: self.init(.badRequest, message, status: 400, cause: error)
        case .notFound: self.init(.notFound, message, status: 404, cause: error)
        default: self.init(.database, message, isTransient: error.isPassing, cause: error)
        }
    }
}

// MARK: - HTTP

extension PeerError {
    /// Maps any failure of a call to a peer over HTTP. All mapping is in this place.
    ///
    /// - Parameters:
    ///   - error: The error that was thrown.
    ///   - place: The host and the path of the request.
    init(_ error: any Error, at place: String) {
        switch error {
        case let error as PeerError: self = error
        case let error as TransportError: self.init(error, at: place)
        case let error as CouchDBError: self.init(error, at: place)
        case is CancellationError: self.init(.cancelled, "the call to \(place) was cancelled")
        case JSONElements.Fault.cutOff:
            self.init(.connectionLost, "the answer of \(place) ends in the middle; something on the way cut it off")
        case JSONElements.Fault.malformed, is JSONError, is WireFault:
            self.init(
                .badAnswer, "\(place) answered something else than CouchDB's protocol says: \(Self.describe(error))",
                cause: error)
        default: self.init(.serverError, "the call to \(place) failed", cause: error)
        }
    }

    /// The reason in the server's own words; empty if it gave none.
    var serverWords: String { (cause as? CouchDBError)?.reason ?? "" }

    private init(_ error: TransportError, at place: String) {
        if let cause = error.cause as? PeerError, error.code == .bodyFailed {
            self = cause
            return
        }
        let code: Code =
            switch error.code {
            case .cannotResolve, .cannotConnect, .proxyFailed: .unreachable
            case .connectionLost: .connectionLost
            case .timedOut: .timedOut
            case .tlsFailed, .certificateRejected: .insecure
            case .cancelled: .cancelled
            case .badAnswer, .bodyTooLarge, .badRedirect: .badAnswer
            default: .badRequest
            }
        self.init(code, "\(error.message) (\(place))", isTransient: error.isTransient, cause: error)
    }

    private init(_ answer: CouchDBError, at place: String) {
        let told = [answer.error, answer.reason].filter { !$0.isEmpty }.joined(separator: ": ")
        let message = "\(place) answered \(answer.status)" + (told.isEmpty ? "" : " (\(told))")
        let (code, advice) = Self.meaning(of: answer)
        self.init(
            code, message + (advice.isEmpty ? "" : "; \(advice)"), status: answer.status, retryAfter: answer.retryAfter,
            isTransient: answer.status < 400 ? false : nil, cause: answer)
    }

    private static func meaning(of answer: CouchDBError) -> (Code, advice: String) {
        switch answer.status {
        case ..<400: (.badAnswer, "it leads elsewhere, where nothing is written; give the address it leads to")
        case 401:
            (
                .unauthorized,
                "tried \(answer.tried ?? "no authentication"); give a user and a password, or a token, that may do this"
            )
        case 403: (.forbidden, "this user may not do that; ask for the right, or be another user")
        case 404: (.notFound, "look at the address, or create what is missing")
        case 408: (.timedOut, "")
        case 409: (.conflict, "")
        case 412 where answer.error == "missing_stub": (.attachmentMissing, "")
        case 413: (.tooLarge, "that is more than the server, or a proxy on the way, takes")
        case 425, 429, 503: (.busy, "")
        case 500...: (.serverError, "")
        default: (.badRequest, "")
        }
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case let error as JSONError: error.message
        case let fault as WireFault: fault.description
        default: "it is not the object with a list that is expected"
        }
    }
}
