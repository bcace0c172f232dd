/// A law that an input violated.
public struct FuzzFailure: Error, CustomStringConvertible {
    /// A description of the law.
    public let description: String

    init(_ description: String) { self.description = description }
}
