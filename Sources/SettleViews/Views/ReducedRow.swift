/// A key and what its rows were reduced to.
public struct ReducedRow<Key: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// The key; its first elements, where arrays were grouped by those.
    public let key: Key
    /// What its rows come to.
    public let value: Result
}

extension ReducedRow: Equatable where Key: Equatable, Result: Equatable {}
