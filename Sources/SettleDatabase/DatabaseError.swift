/// The reason why a database could not do what it was asked.
///
/// Nothing was written when a call throws, and the database is usable as before, unless the code says otherwise.
public struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// The kind of the failure.
    public let code: DatabaseErrorCode
    /// The message: what happened, to which document and revision, and what to do.
    public let message: String
    /// The error underneath, where there is one.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ code: DatabaseErrorCode, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The code, the message and the cause in one line. A cause that the message names is not repeated.
    public var description: String { "\(code): \(message)" + Self.text(of: cause, after: message) }

    /// A cause in parentheses; nothing for one whose words are in the message.
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
    /// There is no such document, revision, attachment or database.
    public static let notFound = DatabaseErrorCode(name: "not_found")
    /// A database of this name is there already.
    public static let exists = DatabaseErrorCode(name: "exists")
    /// An id, a name, a body or an option is not what it may be.
    public static let invalid = DatabaseErrorCode(name: "invalid")
    /// A document is larger than the database allows.
    public static let documentTooLarge = DatabaseErrorCode(name: "document_too_large")
    /// A validation function refused the write; the cause is its ``DocumentRejection`` (SEMANTICS 116).
    public static let refused = DatabaseErrorCode(name: "refused")
    /// Another process has the database open.
    public static let inUse = DatabaseErrorCode(name: "in_use")
    /// The file is damaged; nothing was changed in it.
    public static let corrupt = DatabaseErrorCode(name: "corrupt")
    /// One document's row is damaged; the others can be read and written. It can be purged, and deleted if its revisions can be
    /// read.
    public static let damagedDocument = DatabaseErrorCode(name: "damaged_document")
    /// The file is no Settle database; nothing was changed in it.
    public static let notADatabase = DatabaseErrorCode(name: "not_a_database")
    /// The file was written by a newer version of Settle; nothing was changed in it.
    public static let newerFormat = DatabaseErrorCode(name: "newer_format")
    /// There is no room left; what was not acknowledged was not written.
    public static let diskFull = DatabaseErrorCode(name: "disk_full")
    /// The system could not read or write; what was not acknowledged was not written.
    public static let inputOutput = DatabaseErrorCode(name: "input_output")
    /// The database is suspended until ``Database/resume()``.
    public static let suspended = DatabaseErrorCode(name: "suspended")
    /// The database was closed.
    public static let closed = DatabaseErrorCode(name: "closed")
    /// The content of an attachment is not in this database, or not what its digest says.
    public static let attachmentMissing = DatabaseErrorCode(name: "attachment_missing")
    /// A resolver threw; the conflict is as it was, and the cause is what was thrown (SEMANTICS 27–30).
    public static let resolverFailed = DatabaseErrorCode(name: "resolver_failed")
    /// A resolver took longer than it may; the conflict is as it was.
    public static let timedOut = DatabaseErrorCode(name: "timed_out")
    /// A resolver returned a document of another database; the conflict is as it was (SEMANTICS 22).
    public static let foreignDocument = DatabaseErrorCode(name: "foreign_document")
    /// The database server can't be reached, or does not confirm writes; try again later. What was not acknowledged may have been
    /// written if the connection broke during the commit, and writing the same again is safe.
    public static let unavailable = DatabaseErrorCode(name: "unavailable")
    /// The storage engine failed in another way.
    public static let storage = DatabaseErrorCode(name: "storage")

    package init(name: String) { self.name = name }

    /// The code's name.
    public var description: String { name }
}
