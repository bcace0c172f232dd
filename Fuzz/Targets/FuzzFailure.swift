/// A law that an input broke.
public struct FuzzFailure: Error, CustomStringConvertible {
    /// Which law, in words.
    public let description: String

    init(_ description: String) { self.description = description }
}
