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

    /// The code, the message and the cause in one line.
    public var description: String {
        "\(code): \(message)" + (cause.map { " (\($0))" } ?? "")
    }
}
