import SettleCore
import SettleDatabase

/// A view whose rows are reduced to one value for each key, or for all of them.
///
///     let perAuthor = byAuthor.reduced(.count)
///     try database.reduce(perAuthor)                               // 1024
///     for group in try database.groups(of: perAuthor) { print(group.key, group.value) }
///
/// Reductions are stored with the rows, so that reducing a range reads only a small part of it.
public struct MapReduceIndex<Key: Codable & Sendable, Value: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// The view whose rows are reduced.
    public let view: MapIndex<Key, Value>
    let reduction: Reduction<Value, Result>

    /// The index.
    func index(of database: Database) throws -> ViewIndex {
        try view.index(of: database, reducer: reduction.reducer, suffix: "-" + reduction.name)
    }
}

extension MapIndex {
    /// The view with a value for each key, or for all of them.
    public func reduced<Result>(_ reduction: Reduction<Value, Result>) -> MapReduceIndex<Key, Value, Result> {
        MapReduceIndex(view: self, reduction: reduction)
    }
}
