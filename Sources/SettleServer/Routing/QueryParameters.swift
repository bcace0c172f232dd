internal import SettleCore

/// The parameters of a query; of those with one name the last counts.
struct QueryParameters: Sendable {
    let items: [(name: String, value: String)]

    init(_ items: [(name: String, value: String)]) { self.items = items }

    /// The value of a name.
    subscript(name: String) -> String? { items.last { $0.name == name }?.value }

    /// Whether a parameter is exactly `true`.
    func isTrue(_ name: String) -> Bool { self[name] == "true" }

    /// A parameter as JSON.
    func json(_ name: String) throws -> JSONValue? { try self[name].map { try JSONValue(parsing: $0) } }

    /// A revision.
    ///
    /// - Throws: ``HTTPError/invalidRevision``.
    func revision(_ name: String = "rev") throws -> WireRevision? { try self[name].map { try WireRevision($0) } }
}
