internal import Settle
internal import SettleHTTP
import SettleReplication
internal import SettleScripting

/// Tells what a server refused, or why it was not reached, in the tool's terms.
struct ClientFailure {
    /// The database: its address without user and password, or its folder.
    let name: String
    /// Who answers.
    let authority: String
    /// The document it is about.
    var document: DocumentID?

    init(name: String, authority: String, document: DocumentID? = nil) {
        (self.name, self.authority, self.document) = (name, authority, document)
    }

    /// Failures of requests to an address, which has no user and password.
    init(url: HTTPURL, document: DocumentID? = nil) {
        self.init(name: url.description, authority: url.authority, document: document)
    }

    /// An error as the tool reports it: where, what, why, and what to do.
    func explained(_ error: any Error) -> any Error {
        switch error {
        case let error as CouchDBError: refusal(error)
        case let error as PeerError where error.cause is CouchDBError || error.cause is TransportError:
            explained(error.cause ?? error)
        case let error as TransportError where error.cause is CommandError: error.cause ?? error
        case let error as TransportError where [.badAnswer, .badRedirect].contains(error.code): notCouchDB
        case is JSONElements.Fault, is JSONError: notCouchDB
        case is TransportError, is PeerError, is ScriptError: CommandError(error)
        default: error
        }
    }

    /// What CouchDB calls failures of queries by selector, which mean the same of a folder.
    private static let aboutQueries: Set<String> = [
        "no_usable_index", "invalid_index", "multiple_text_indexes", "text_search_error",
        "invalid_index_fields_definition", "invalid_bookmark", "unsupported_mixed_sort", "invalid_sort_field",
        "invalid_ddoc_lang", "invalid_selector_json", "invalid_selector", "invalid_operator", "not_supported",
        "bad_arg",
        "bad_field", "invalid_field_name", "invalid_field", "too_deep",
    ]

    /// Whether an answer says that there is no such database.
    static func isAboutDatabase(_ error: CouchDBError) -> Bool {
        guard error.status == 404 else { return false }
        let reason = error.reason.lowercased()
        return reason == "no_db_file" || reason.contains("database")
    }

    private var notCouchDB: CommandError {
        CommandError(
            "bad_answer",
            "\(name) is not a CouchDB server, or a proxy answered instead of it; check the URL",
            status: .damaged)
    }

    private func refusal(_ error: CouchDBError) -> CommandError {
        if error.error.isEmpty, error.status != 401, error.status != 403, error.status < 500 { return notCouchDB }
        let reason = [error.error, error.reason].filter { !$0.isEmpty }.joined(separator: ": ")
        let place = document.map { "\"\($0)\" of \(name)" } ?? "\(name)"
        func explained(_ code: String, _ message: String, _ status: ExitStatus) -> CommandError {
            CommandError(code, message, status: status)
        }
        switch error.status {
        case 401:
            let tried = error.tried.flatMap { $0 == ReplicationCredentials.none.description ? nil : $0 }
            let what = tried.map { "did not accept \($0)" } ?? "requires authentication"
            return explained(
                "unauthorized",
                """
                \(authority) \(what) for \(place) (\(reason)); give \
                --user NAME with its password, or --bearer-file FILE
                """, .refused)
        case 403: return explained("forbidden", "\(authority) forbids it for \(place): \(reason)", .refused)
        case 404 where Self.isAboutDatabase(error):
            return explained("not_found", "there is no database at \(name); `settle create` creates it", .notFound)
        case 404: return explained("not_found", "\(place) does not exist (\(reason))", .notFound)
        case 409:
            return explained("conflict", "\(place) was changed concurrently; read it again, and retry", .conflict)
        case 412 where error.error == "file_exists":
            return explained("exists", "there is a database at \(name) already", .conflict)
        case 412: return explained("attachment_missing", "\(place) was refused: \(reason)", .refused)
        case 413:
            return explained("document_too_large", "\(place) is larger than the server accepts (\(reason))", .refused)
        case 400 where Self.aboutQueries.contains(error.error): return explained(error.error, error.reason, .refused)
        case 400..<500: return explained("invalid", "\(authority) refused \(place): \(reason)", .refused)
        case ..<400:
            return explained(
                "bad_redirect",
                "\(name) redirects elsewhere, and nothing is written there; give the URL it redirects to", .failure)
        default:
            return explained(
                "server_error", "\(authority) failed at \(place), status \(error.status) (\(reason)); try later",
                .failure)
        }
    }
}
