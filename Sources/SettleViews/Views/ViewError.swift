/// Why a view can't be built or asked, in CouchDB's words.
public struct ViewError: Error, Hashable, Sendable, CustomStringConvertible {
    /// CouchDB's name for it.
    public let name: String
    /// What is wrong.
    public let reason: String

    /// Makes an error.
    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    /// The name and the reason.
    public var description: String { "\(name): \(reason)" }
}
