package import SettleCore
package import SettleQuery

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
        // Compared by bytes, because a combining mark after the name would change its last character.
        return functions.first { name.utf8.starts(with: $0.0.utf8) }?.1
    }

    /// The reason why a name that begins with `_` is not a built-in function, in CouchDB's wording; `nil` if it is one.
    package static func problem(with name: String) -> String? {
        if named(name) != nil { return nil }
        guard let rank = rank(in: name) else { return "`\(name)` is not a supported reduce function." }
        return rank.isNumber ? "rank value must be between 1 and \(highestRank)" : "invalid rank reducer"
    }

    /// The parameters of a rank function; `count` is `nil` for an invalid number. `nil` for another function.
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

/// The greatest or least distinct values, up to a number: `_top_N` and `_bottom_N`.
struct RankReducer: ViewReducer {
    let count: Int
    let isTop: Bool

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in ranked(rows.lazy.compactMap { try? JSONValue(utf8: Array($0.value)) }) }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in ranked(values.lazy.flatMap { (try? JSONValue(utf8: $0))?.array ?? [] }) }
    }

    private func ranked(_ values: some Sequence<JSONValue>) -> [UInt8] {
        var best: [JSONValue] = []
        for value in values {
            let place = best.firstIndex { Collation.compare($0, value) != (isTop ? .after : .before) } ?? best.count
            if place < best.count, Collation.compare(best[place], value) == .same { continue }
            guard place < count else { continue }
            best.insert(value, at: place)
            if best.count > count { best.removeLast() }
        }
        return JSONValue.array(best).utf8
    }
}

/// The value of the first or the last row: `_first` and `_last`.
struct EdgeReducer: ViewReducer {
    let isLast: Bool
    /// The order of the view's keys.
    let order: KeyOrder

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in
            guard var edge = rows.first else { return JSONValue.null.utf8 }
            for row in rows where RowPosition.isBefore(row.position, edge.position) != isLast { edge = row }
            let id = JSONValue.string(String(decoding: edge.id, as: UTF8.self)).utf8
            var row = Array("[".utf8)
            row += edge.key
            row += Array(",".utf8) + id + Array(",".utf8)
            row += edge.value
            row += Array("]".utf8)
            return row
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in
            var edge: (place: [UInt8], value: [UInt8])?
            for value in values {
                guard let row = (try? JSONValue(utf8: value))?.array, row.count == 3, let id = row[1].string else {
                    continue
                }
                let place = RowPosition.make(
                    key: SortKey.of(row[0], in: order), id: DocumentID(unchecked: id), number: 0)
                if let known = edge, RowPosition.isBefore(place, known.place) == isLast { continue }
                edge = (place, value)
            }
            return edge?.value ?? JSONValue.null.utf8
        }
    }

    func finish(_ value: [UInt8]) throws -> [UInt8] { (try? JSONValue(utf8: value))?[2]?.utf8 ?? JSONValue.null.utf8 }
}

// MARK: - Rows

extension BuiltInReducer {
    /// A row outside of any index.
    package typealias LooseRow = (id: String, key: JSONValue, value: JSONValue)

    /// Reduces rows outside of any index to one value, as a query without groups would.
    ///
    /// - Parameters:
    ///   - rows: The rows, in any order.
    ///   - name: The function's name.
    /// - Returns: The value; `nil` if no function has this name.
    /// - Throws: `MapIndexError` if the function can't reduce a value, for example `_sum` a string.
    package static func reduce(_ rows: [LooseRow], by name: String) throws -> JSONValue? {
        guard let reducer = named(name) else { return nil }
        let indexed = rows.map { row in
            let key = SortKey.of(row.key, in: .collation)
            return IndexRow(
                key: row.key.utf8[...], id: Array(row.id.utf8)[...], value: row.value.utf8[...],
                position: RowPosition.make(key: key, id: DocumentID(unchecked: row.id), number: 0)[...])
        }
        let reduced = try reducer.reduce([indexed])
        return try reduced.first.map { try JSONValue(utf8: reducer.finish($0)) }
    }
}
