/// A key and the reduced value of its rows.
public struct MapReduceRow<Key: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// The key; only its first elements, if arrays are grouped by them.
    public let key: Key
    /// The reduced value.
    public let value: Result
}

extension MapReduceRow: Equatable where Key: Equatable, Result: Equatable {}
