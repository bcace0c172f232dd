/// Why a validation function refused a write: an HTTP status and a message, both for the writer.
public struct DocumentRejection: Error, Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status of the refusal: 403 unless the function chose another, such as 401 (SEMANTICS 115).
    public let status: Int
    /// The message; "invalid document" unless the function gave one.
    public let message: String

    /// Creates a refusal.
    public init(status: Int = 403, message: String = "invalid document") {
        self.status = status
        self.message = message
    }

    /// The status and the message.
    public var description: String { "\(status) \(message)" }
}
