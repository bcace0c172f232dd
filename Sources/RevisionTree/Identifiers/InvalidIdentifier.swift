/// Text that is no document id or no revision id.
public struct InvalidIdentifier: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text that was refused.
    public let text: String
    /// What is wrong with it, in words.
    public let problem: String

    /// The text and the problem in one line.
    public var description: String { "\"\(text.prefix(200))\": \(problem)" }
}
