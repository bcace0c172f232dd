internal import SettleCore
internal import SettleDatabase
internal import SettleScripting
internal import SettleViews

extension HTTPError {
    /// Translates any error to CouchDB's wording; this is the only place that does.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case let error as DatabaseError: self = Self.mapped(error)
        case let error as JSONError: self = error.code == .tooManyValues ? .tooManyValues : .invalidJSON
        case let error as ScriptError: self = .script(error)
        case let error as SelectorError: self = HTTPError(400, error.code.name, error.reason)
        case let error as QueryError: self = HTTPError(400, error.code.name, error.reason)
        case let error as MapIndexError: self = HTTPError(500, error.name, error.reason)
        case is HTTPRequest.BodyError: self = .tooLarge
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

    /// Internal errors are not sent to clients, because a message may contain the path of a file.
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
