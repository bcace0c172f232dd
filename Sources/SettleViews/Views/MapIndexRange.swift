import SettleCore
internal import SettleDatabase

/// A range of rows of a view, with their order.
///
///     .all     .key(1984)     .keys([1984, 2001])     .between(1900, 1999)     .from(2000).reversed().prefix(10)
///
/// Keys are ordered as CouchDB does: `null`, booleans, numbers, strings by Unicode's root collation, arrays, objects.
public struct MapIndexRange<Key: Codable & Sendable>: Sendable {
    enum Bounds: Sendable {
        case keys([Key])
        case range(from: Key?, to: Key?, includesEnd: Bool)
    }

    let bounds: Bounds
    /// Whether the order is descending.
    public private(set) var isReversed = false
    /// The number of rows to skip.
    public private(set) var skipped = 0
    /// The maximum number of rows.
    public private(set) var limit = Int.max

    private init(_ bounds: Bounds) { self.bounds = bounds }

    /// All rows.
    public static var all: MapIndexRange { MapIndexRange(.range(from: nil, to: nil, includesEnd: true)) }

    /// The rows of one key.
    public static func key(_ key: Key) -> MapIndexRange { MapIndexRange(.keys([key])) }

    /// The rows of some keys, in the order of the list.
    public static func keys(_ keys: [Key]) -> MapIndexRange { MapIndexRange(.keys(keys)) }

    /// The rows from a key on.
    public static func from(_ key: Key) -> MapIndexRange {
        MapIndexRange(.range(from: key, to: nil, includesEnd: true))
    }

    /// The rows up to a key, inclusive.
    public static func through(_ key: Key) -> MapIndexRange {
        MapIndexRange(.range(from: nil, to: key, includesEnd: true))
    }

    /// The rows before a key.
    public static func before(_ key: Key) -> MapIndexRange {
        MapIndexRange(.range(from: nil, to: key, includesEnd: false))
    }

    /// The rows from one key to another, inclusive.
    public static func between(_ first: Key, _ last: Key) -> MapIndexRange {
        MapIndexRange(.range(from: first, to: last, includesEnd: true))
    }

    /// The same rows in descending order; the bounds are unchanged.
    public func reversed() -> MapIndexRange {
        var range = self
        range.isReversed.toggle()
        return range
    }

    /// Returns at most `count` rows.
    public func prefix(_ count: Int) -> MapIndexRange {
        var range = self
        range.limit = max(count, 0)
        return range
    }

    /// Skips the first `count` rows.
    public func dropFirst(_ count: Int) -> MapIndexRange {
        var range = self
        range.skipped = max(count, 0)
        return range
    }

    /// The ranges of the index, in order.
    func parts() throws -> [RowRange] {
        func json(_ key: Key) throws -> JSONValue { try JSONValue(encoding: key) }
        switch bounds {
        case .keys(let keys):
            return try (isReversed ? keys.reversed() : keys).map { RowRange(key: try json($0), descending: isReversed) }
        case .range(let from, let to, let includesEnd):
            let (low, high) = (try from.map(json), try to.map(json))
            guard isReversed else { return [RowRange(start: low, end: high, includesEnd: includesEnd)] }
            var range = RowRange(start: high, end: low, descending: true)
            if !includesEnd { range.exclude(high) }
            return [range]
        }
    }
}
