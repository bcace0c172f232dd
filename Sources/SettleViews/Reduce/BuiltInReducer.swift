package import SettleDatabase

/// CouchDB's own reduce functions.
package enum BuiltInReducer {
    /// The function of a name: `_count`, `_sum`, `_stats`, `_approx_count_distinct`, `_first`, `_last`, `_top_N`, `_bottom_N`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The order of the view's keys.
    /// - Returns: `nil` for a name that is none.
    package static func named(_ name: String, order: KeyOrder = .collation) -> (any ViewReducer)? {
        switch name {
        case "_count": CountReducer()
        case "_sum": SumReducer()
        case "_stats": StatisticsReducer()
        case "_approx_count_distinct": DistinctReducer()
        case "_first": EdgeReducer(isLast: false, order: order)
        case "_last": EdgeReducer(isLast: true, order: order)
        default: ranked(name)
        }
    }

    private static func ranked(_ name: String) -> (any ViewReducer)? {
        for (prefix, isTop) in [("_top_", true), ("_bottom_", false)] where name.hasPrefix(prefix) {
            guard let count = Int(name.dropFirst(prefix.count)), 1...100 ~= count else { return nil }
            return RankReducer(count: count, isTop: isTop)
        }
        return nil
    }
}
