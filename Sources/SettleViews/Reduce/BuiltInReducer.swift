package import SettleDatabase

/// CouchDB's built-in reduce functions.
package enum BuiltInReducer {
    private static let highestRank = 100

    /// The function with a name, of which CouchDB checks only the beginning: `_count`, `_sum`, `_stats`,
    /// `_approx_count_distinct`, `_first`, `_last`, `_top_N`, `_bottom_N`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The order of the view's keys.
    /// - Returns: The function, or `nil` where ``problem(with:)`` returns an error.
    package static func named(_ name: String, order: KeyOrder = .collation) -> (any ViewReducer)? {
        if let rank = rank(in: name) { return rank.count.map { RankReducer(count: $0, isTop: rank.isTop) } }
        let functions: [(String, any ViewReducer)] = [
            ("_sum", SumReducer()), ("_count", CountReducer()), ("_stats", StatisticsReducer()),
            ("_approx_count_distinct", DistinctReducer()), ("_first", EdgeReducer(isLast: false, order: order)),
            ("_last", EdgeReducer(isLast: true, order: order)),
        ]
        // Compared by bytes, because a newline after the name would join its last character.
        return functions.first { name.utf8.starts(with: $0.0.utf8) }?.1
    }

    /// Why a name that begins with `_` is not a built-in function, in CouchDB's wording; `nil` if it is one.
    package static func problem(with name: String) -> String? {
        if named(name) != nil { return nil }
        guard let rank = rank(in: name) else { return "`\(name)` is not a supported reduce function." }
        return rank.isNumber ? "rank value must be between 1 and \(highestRank)" : "invalid rank reducer"
    }

    /// The number of values of a rank function, `nil` for an invalid number; `nil` for another function.
    private static func rank(in name: String) -> (isTop: Bool, isNumber: Bool, count: Int?)? {
        for (prefix, isTop) in [("_top_", true), ("_bottom_", false)] where name.utf8.starts(with: prefix.utf8) {
            let text = Substring(name.utf8.dropFirst(prefix.utf8.count))
            let digits = text.first == "-" || text.first == "+" ? text.dropFirst() : text
            let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            let count = Int(text).flatMap { 1...highestRank ~= $0 ? $0 : nil }
            return (isTop, isNumber, isNumber ? count : nil)
        }
        return nil
    }
}
