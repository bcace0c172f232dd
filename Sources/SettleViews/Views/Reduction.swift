internal import SettlePlatform

/// Reduces many values to one.
///
///     .count     .sum     .statistics     .custom("longest", version: 1, reduce: { … }, combine: { … })
public struct Reduction<Value: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    /// Distinguishes it from other reductions of the same rows.
    let name: String
    let reducer: any ViewReducer

    /// A reduction by closures.
    ///
    /// Rows are reduced in parts, and the results are combined, in any grouping; so the result must not depend on the
    /// grouping.
    ///
    /// - Parameters:
    ///   - name: Distinguishes it from other reductions of the same view.
    ///   - version: The version of the closures; raise it when they change.
    ///   - reduce: Makes a result of values.
    ///   - combine: Makes a result from several results.
    /// - Returns: The reduction.
    public static func custom(
        _ name: String, version: Int, reduce: @escaping @Sendable ([Value]) -> Result,
        combine: @escaping @Sendable ([Result]) -> Result
    ) -> Reduction {
        let digits = Hexadecimal.encode(name.utf8.prefix(60))
        return Reduction(name: "c\(digits)-\(version)", reducer: ClosureReducer(reduceValues: reduce, combine: combine))
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

extension Reduction where Value: Numeric, Result == ViewStatistics {
    /// Sum, count, extremes and sum of squares of the values.
    public static var statistics: Reduction { Reduction(name: "stats", reducer: StatisticsReducer()) }
}
