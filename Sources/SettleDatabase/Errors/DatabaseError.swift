/// Why a database could not do what it was asked.
///
/// Nothing was written when a call throws, and the database is usable as before, unless the code says otherwise.
public struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public let code: DatabaseErrorCode
    /// What happened, to which document and revision, and what to do.
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
