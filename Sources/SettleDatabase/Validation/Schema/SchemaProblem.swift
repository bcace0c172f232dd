/// One way in which a value violates a schema.
public struct SchemaProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position in the value, as a JSON pointer (RFC 6901); empty for the whole value.
    public let path: String
    /// The violated keyword; `false` for a schema that allows nothing, `limit` if the check was aborted.
    public let keyword: String
    /// What is wrong, in human-readable form.
    public let message: String

    /// The position, the keyword and the message.
    public var description: String { "\(path.isEmpty ? "(root)" : path): \(keyword): \(message)" }
}
