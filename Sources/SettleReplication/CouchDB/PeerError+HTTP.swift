internal import SettleCore

extension PeerError {
    /// Maps any failure of a call to a peer over HTTP; all mapping is here.
    ///
    /// - Parameters:
    ///   - error: What was thrown.
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
                .badAnswer, "\(place) answered something else than CouchDB's protocol says: \(Self.told(error))",
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

    private static func told(_ error: any Error) -> String {
        switch error {
        case let error as JSONError: error.message
        case let fault as WireFault: fault.description
        default: "it is not the object with a list that is expected"
        }
    }
}
