public import SettleDatabase

/// An error of building or querying a view, in CouchDB's wording.
public struct MapIndexError: SettleError, Hashable, Sendable {
    /// CouchDB's name of the error.
    public let name: String
    /// The description.
    public let reason: String

    /// Makes an error.
    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    /// The name and the reason.
    public var description: String { "\(name): \(reason)" }
}
