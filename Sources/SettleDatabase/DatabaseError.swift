/// The reason why a call of a database failed.
///
/// If a call throws, it has written nothing, and the database remains usable. Exceptions are described with the
/// codes.
public struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// The kind of the failure.
    public let code: DatabaseErrorCode
    /// The message: what happened, to which document and revision, and what to do.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ code: DatabaseErrorCode, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether the same call works later, because the database is suspended, or in use by another process.
    package var isPassing: Bool { code == .suspended || code == .inUse }

    /// The code, the message and the cause in one line. If the message already contains the cause, it is not
    /// repeated.
    public var description: String { "\(code): \(message)" + Self.text(of: cause, after: message) }

    /// A cause in parentheses; empty if the message already contains its text.
    package static func text(of cause: (any Error)?, after message: String) -> String {
        guard let cause else { return "" }
        let text = "\(cause)"
        let words = text.split(separator: ": ", maxSplits: 1).last ?? ""
        return message.contains(text) || (!words.isEmpty && message.contains(words)) ? "" : " (\(text))"
    }
}

// MARK: - DatabaseErrorCode

/// The kinds of failure of a database; more may be added.
public struct DatabaseErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as `--json` output has it.
    public let name: String

    /// The revision the caller started from is no longer a leaf; read again, merge, and retry (SEMANTICS 47).
    public static let conflict = DatabaseErrorCode(name: "conflict")
    /// The document, revision, attachment or database does not exist.
    public static let notFound = DatabaseErrorCode(name: "not_found")
    /// A database of this name already exists.
    public static let exists = DatabaseErrorCode(name: "exists")
    /// An id, a name, a body or an option is not valid.
    public static let invalid = DatabaseErrorCode(name: "invalid")
    /// A document is larger than the database allows.
    public static let documentTooLarge = DatabaseErrorCode(name: "document_too_large")
    /// A validation function refused the write; the cause is its ``DocumentRejection`` (SEMANTICS 116).
    public static let refused = DatabaseErrorCode(name: "refused")
    /// Another process has the database open.
    public static let inUse = DatabaseErrorCode(name: "in_use")
    /// The file is damaged; nothing was changed in it.
    public static let corrupt = DatabaseErrorCode(name: "corrupt")
    /// One document's row is damaged; all other documents can be read and written. The damaged one can be purged,
    /// and deleted if its revisions can be read.
    public static let damagedDocument = DatabaseErrorCode(name: "damaged_document")
    /// The file is not a Settle database; nothing was changed in it.
    public static let notADatabase = DatabaseErrorCode(name: "not_a_database")
    /// The file was written by a newer version of Settle; nothing was changed in it.
    public static let newerFormat = DatabaseErrorCode(name: "newer_format")
    /// The disk is full. Writes that were not acknowledged were not stored.
    public static let diskFull = DatabaseErrorCode(name: "disk_full")
    /// The system could not read or write. Writes that were not acknowledged were not stored.
    public static let inputOutput = DatabaseErrorCode(name: "input_output")
    /// The database is suspended until ``Database/resume()``.
    public static let suspended = DatabaseErrorCode(name: "suspended")
    /// The database was closed.
    public static let closed = DatabaseErrorCode(name: "closed")
    /// The content of an attachment is not in this database, or does not match its digest.
    public static let attachmentMissing = DatabaseErrorCode(name: "attachment_missing")
    /// A resolver threw an error, which is the cause; the conflict stays unchanged (SEMANTICS 27–30).
    public static let resolverFailed = DatabaseErrorCode(name: "resolver_failed")
    /// A resolver took longer than allowed; the conflict stays unchanged.
    public static let timedOut = DatabaseErrorCode(name: "timed_out")
    /// A resolver returned a document of another database; the conflict stays unchanged (SEMANTICS 22).
    public static let foreignDocument = DatabaseErrorCode(name: "foreign_document")
    /// The database server can't be reached, or does not confirm writes; try again later. If the connection broke
    /// during the commit, the write may have been stored; writing the same again is safe.
    public static let unavailable = DatabaseErrorCode(name: "unavailable")
    /// The storage engine failed for another reason.
    public static let storage = DatabaseErrorCode(name: "storage")

    package init(name: String) { self.name = name }

    /// The code's name.
    public var description: String { name }
}
