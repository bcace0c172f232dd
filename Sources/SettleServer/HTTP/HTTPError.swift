internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleImport
internal import SettleQuery
internal import SettleScripting
internal import SettleViews

/// An error answer: a status, and CouchDB's words for it.
struct HTTPError: Error {
    let status: Int
    /// CouchDB's name for the error.
    let error: String
    let reason: String
    var headers = HTTPHeaders()

    init(_ status: Int, _ error: String, _ reason: String, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.error = error
        self.reason = reason
        self.headers = headers
    }

    static func badRequest(_ reason: String) -> HTTPError { HTTPError(400, "bad_request", reason) }
    static func queryParse(_ reason: String) -> HTTPError { HTTPError(400, "query_parse_error", reason) }
    static func illegalID(_ reason: String) -> HTTPError { HTTPError(400, "illegal_docid", reason) }
    static func invalidDocument(_ reason: String) -> HTTPError { HTTPError(400, "doc_validation", reason) }
    static func unauthorized(_ reason: String) -> HTTPError { HTTPError(401, "unauthorized", reason) }
    static func forbidden(_ reason: String) -> HTTPError { HTTPError(403, "forbidden", reason) }
    static func notFound(_ reason: String) -> HTTPError { HTTPError(404, "not_found", reason) }
    static func exists(_ reason: String) -> HTTPError { HTTPError(412, "precondition_failed", reason) }
    static func missingStub(_ reason: String) -> HTTPError { HTTPError(412, "missing_stub", reason) }
    static func contentType(_ reason: String) -> HTTPError { HTTPError(415, "bad_content_type", reason) }
    static func notImplemented(_ reason: String) -> HTTPError { HTTPError(501, "not_implemented", reason) }

    static func methodNotAllowed(_ allow: String) -> HTTPError {
        HTTPError(405, "method_not_allowed", "Only \(allow) allowed", headers: ["Allow": allow])
    }

    static func documentTooLarge(_ id: String) -> HTTPError { HTTPError(413, "document_too_large", id) }

    /// Whether the error may mean that the user has no right to do this.
    var isAboutRights: Bool { [401, 403, 404].contains(status) }

    /// Whether the error means that a document can't have such a revision.
    var isAboutRevision: Bool { status == 400 && reason == Self.invalidRevision.reason }

    static let wrongPassword = unauthorized("Name or password is incorrect.")
    static let otherContent = HTTPError(400, "content_md5_mismatch", "Possible message corruption.")
    static let missing = notFound("missing")
    static let deleted = notFound("deleted")
    static let noDatabase = notFound("Database does not exist.")
    static let conflict = HTTPError(409, "conflict", "Document update conflict.")
    static let missingRevision = HTTPError(409, "not_found", "missing_rev")
    static let invalidRevision = badRequest("Invalid rev format")
    static let invalidJSON = badRequest("invalid UTF-8 JSON")
    /// A body that must be held in memory is larger than the limit. Streamed attachments don't cause this error.
    static func bodyTooLarge(_ limit: Int) -> HTTPError {
        HTTPError(
            413, "too_large",
            """
            the request entity is too large: JSON may have \(limit) bytes here. Send large attachments by \
            PUT /{db}/{doc}/{attachment} or as multipart/related, which are streamed, or raise the setting body_size
            """)
    }

    static let stopping = HTTPError(
        503, "service_unavailable", "The server is stopping.", headers: ["Retry-After": "1"])
    static let tooLarge = HTTPError(413, "too_large", "the request entity is too large")
    static let rangeNotSatisfiable = HTTPError(
        416, "requested_range_not_satisfiable", "Requested range not satisfiable")
}

extension HTTPError: CustomStringConvertible {
    /// The reason.
    var description: String { reason }
}

// MARK: - Mapping

extension HTTPError {
    /// Translates any error to CouchDB's wording. No other code does.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case let error as DatabaseError: self = Self.mapped(error)
        case let error as JSONError: self = error.code == .tooManyValues ? .tooManyValues : .invalidJSON
        case let error as InvalidIdentifier: self = .badRequest(error.description)
        case let error as ForeignFileError: self = Self.mapped(error)
        case let error as ScriptError: self = .script(error)
        case let error as SelectorError: self = HTTPError(400, error.code.name, error.reason)
        case let error as QueryError: self = HTTPError(400, error.code.name, error.reason)
        case let error as MapIndexError: self = HTTPError(500, error.name, error.reason)
        case is ServerRequest.BodyError: self = .tooLarge
        case is CancellationError: self = HTTPError(408, "timeout", "The client has closed the connection.")
        default: self = HTTPError(500, "unknown_error", Self.seeLog)
        }
    }

    private static func mapped(_ error: DatabaseError) -> HTTPError {
        switch error.code {
        case .conflict: .conflict
        case .notFound: .missing
        case .exists:
            HTTPError(
                412, "file_exists", "The database could not be created, the file already exists.")
        case .invalid: .badRequest(error.message)
        case .documentTooLarge: HTTPError(413, "document_too_large", error.message)
        case .refused: refused(error)
        case .attachmentMissing: .missingStub(error.message)
        case .damagedDocument: HTTPError(500, "damaged_document", error.message)
        case .closed: .noDatabase
        case .inUse: HTTPError(503, "service_unavailable", "Another process uses the database.")
        case .unavailable:
            HTTPError(503, "service_unavailable", "The storage can't be reached now.", headers: ["Retry-After": "1"])
        case .diskFull: HTTPError(507, "insufficient_storage", "There is no room left.")
        default: HTTPError(500, "internal_server_error", Self.seeLog)
        }
    }

    /// The error for a file that can't be imported. Messages about the system may contain paths.
    private static func mapped(_ error: ForeignFileError) -> HTTPError {
        switch error.code {
        case .unknown: HTTPError(400, "invalid", error.message)
        case .unsupported, .missing, .damaged: HTTPError(400, error.code.rawValue, error.message)
        case .inUse, .inputOutput: HTTPError(500, "internal_server_error", Self.seeLog)
        }
    }

    /// The message of internal errors. Details are not sent to clients, because they may contain paths.
    private static let seeLog = "The server failed; its log says why."

    /// A script's error, in CouchDB's wording; a script controls what its own error reveals.
    private static func script(_ error: ScriptError) -> HTTPError {
        switch error.name {
        case "not_found": .notFound(error.reason)
        case "forbidden": .forbidden(error.reason)
        case "unauthorized": .unauthorized(error.reason)
        default: HTTPError(500, error.name, error.reason)
        }
    }

    private static func refused(_ error: DatabaseError) -> HTTPError {
        if let failure = error.cause as? ScriptError { return script(failure) }
        guard let refusal = error.cause as? DocumentRejection else { return HTTPError(403, "forbidden", error.message) }
        let name =
            switch refusal.status {
            case 401: "unauthorized"
            case 500...: "unknown_error"
            default: "forbidden"
            }
        return HTTPError(refusal.status, name, refusal.message)
    }
}
