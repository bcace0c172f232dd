internal import SettleDatabase

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
        // Until the app resumes the database, or the other process closes it.
        case .suspended, .inUse: self.init(.database, message, isTransient: true, cause: error)
        case .notFound: self.init(.notFound, message, status: 404, cause: error)
        default: self.init(.database, message, cause: error)
        }
    }
}
