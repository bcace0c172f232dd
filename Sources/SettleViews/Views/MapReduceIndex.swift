import SettleCore
import SettleDatabase
internal import SettlePlatform

/// A view whose rows are reduced to one value, in total or for each key.
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
    func index(of database: Database) throws -> ViewIndex { try view.index(of: database, reduction) }
}

extension MapIndex {
    /// The view, with its rows reduced to one value, in total or for each key.
    public func reduced<Result>(_ reduction: Reduction<Value, Result>) -> MapReduceIndex<Key, Value, Result> {
        MapReduceIndex(view: self, reduction: reduction)
    }
}

// MARK: - MapReduceRow

/// A key and the reduced value of its rows.
public struct MapReduceRow<Key: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// The key. If arrays are grouped by their first elements, only these.
    public let key: Key
    /// The reduced value.
    public let value: Result
}

extension MapReduceRow: Equatable where Key: Equatable, Result: Equatable {}

// MARK: - Reduction

/// Reduces many values to one.
///
///     .count     .sum     .statistics     .custom("longest", version: 1, reduce: { … }, combine: { … })
public struct Reduction<Value: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// Distinguishes it from other reductions of the same rows.
    let name: String
    let reducer: any ViewReducer
    /// The beginning of the names of all its versions; `nil` if it has only one.
    var family: String?

    /// A reduction by closures.
    ///
    /// Rows are reduced in parts and the results are combined, in any grouping. So the result must not depend on
    /// the grouping.
    ///
    /// - Parameters:
    ///   - name: Distinguishes it from other reductions of the same view.
    ///   - version: The version of the closures; increase it when they change.
    ///   - reduce: Makes a result from values.
    ///   - combine: Makes a result from several results.
    /// - Returns: The reduction.
    public static func custom(
        _ name: String, version: Int, reduce: @escaping @Sendable ([Value]) -> Result,
        combine: @escaping @Sendable ([Result]) -> Result
    ) -> Reduction {
        let family = "c\(Hexadecimal.encode(name.utf8.prefix(60)))-"
        let reducer = ClosureReducer(reduceValues: reduce, combine: combine)
        return Reduction(name: "\(family)\(version)", reducer: reducer, family: family)
    }
}

extension Reduction where Result == Int {
    /// The number of rows.
    public static var count: Reduction { Reduction(name: "count", reducer: CountReducer()) }
}

extension Reduction where Value: Numeric, Result == Value {
    /// The sum of the values.
    public static var sum: Reduction { Reduction(name: "sum", reducer: SumReducer()) }
}

extension Reduction where Value: Numeric, Result == ReductionStatistics {
    /// Sum, count, extremes and sum of squares of the values.
    public static var statistics: Reduction { Reduction(name: "stats", reducer: StatisticsReducer()) }
}

/// The result of CouchDB's `_stats`.
public struct ReductionStatistics: Codable, Hashable, Sendable {
    /// The sum.
    public let sum: Double
    /// The number of values.
    public let count: Int
    /// The minimum.
    public let min: Double
    /// The maximum.
    public let max: Double
    /// The sum of squares.
    public let sumsqr: Double
}

/// Reduces by closures.
struct ClosureReducer<Value: Codable & Sendable, Result: Codable & Sendable>: ViewReducer {
    let reduceValues: @Sendable ([Value]) -> Result
    let combine: @Sendable ([Result]) -> Result

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        try groups.map { rows in
            ViewCoding.encode(reduceValues(try rows.map { try ViewCoding.decode(Value.self, $0.value) }))
                ?? JSONValue.null.utf8
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        try groups.map { values in
            // A single value needs no combining.
            if values.count == 1 { return values[0] }
            return ViewCoding.encode(combine(try values.map { try ViewCoding.decode(Result.self, $0) }))
                ?? JSONValue.null.utf8
        }
    }
}
