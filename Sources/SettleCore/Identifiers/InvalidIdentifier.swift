/// An error for text that is not a document id or not a revision id.
public struct InvalidIdentifier: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text that was refused.
    public let text: String
    /// What is wrong with it.
    public let problem: String

    /// The text and the problem in one line.
    public var description: String { "\"\(text.prefix(200))\": \(problem)" }
}
