/// One thing about a value that a schema does not allow.
public struct SchemaProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where in the value, as a JSON pointer (RFC 6901); empty for the whole value.
    public let path: String
    /// The keyword that is not met; `false` for a schema that allows nothing, `limit` when the check was given up.
    public let keyword: String
    /// What is wrong, in words.
    public let message: String

    /// The place, the keyword and the message.
    public var description: String { "\(path.isEmpty ? "(root)" : path): \(keyword): \(message)" }
}
