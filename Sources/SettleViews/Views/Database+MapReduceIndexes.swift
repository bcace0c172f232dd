public import SettleCore
public import SettleDatabase

extension Database {
    /// Reduces the rows of a range; `nil` if there are none.
    ///
    /// - Throws: ``DatabaseError``, or `DecodingError` as ``rows(of:in:)`` does.
    /// - Complexity: O(log *n*) plus a small part of the range, plus the update of the index.
    public func reduce<Key, Value, Result>(
        _ view: MapReduceIndex<Key, Value, Result>, in range: MapIndexRange<Key> = .all
    ) throws -> Result? {
        try groups(of: view, in: range, level: .none).first?.1
    }

    /// Reduces the rows of each key, in the order of the keys.
    ///
    /// - Throws: As ``reduce(_:in:)`` does.
    public func groups<Key, Value, Result>(
        of view: MapReduceIndex<Key, Value, Result>, in range: MapIndexRange<Key> = .all
    ) throws -> [MapReduceRow<Key, Result>] {
        try groups(of: view, in: range, level: .exact).map { key, value in
            MapReduceRow(key: try ViewCoding.decode(Key.self, key), value: value)
        }
    }

    /// Reduces the rows whose keys are arrays with the same first elements, in the order of the keys; CouchDB's
    /// `group_level`.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - count: The number of elements.
    ///   - range: The range of rows.
    /// - Returns: The reduced value for each group.
    /// - Throws: As ``reduce(_:in:)`` does.
    public func groups<Key, Value, Result>(
        of view: MapReduceIndex<Key, Value, Result>, byFirst count: Int, in range: MapIndexRange<Key> = .all
    ) throws -> [MapReduceRow<JSONValue, Result>] {
        try groups(of: view, in: range, level: .elements(count)).map { key, value in
            MapReduceRow(key: try JSONValue(utf8: key), value: value)
        }
    }

    private func groups<Key, Value, Result>(
        of view: MapReduceIndex<Key, Value, Result>, in range: MapIndexRange<Key>, level: GroupLevel
    ) throws -> [([UInt8], Result)] {
        let index = try view.index(of: self)
        try index.update(from: self, by: view.view.mapper)
        return try index.read { reading in
            var found: [([UInt8], Result)] = []
            var toSkip = range.skipped
            var rest = try range.parts()[...]
            while let part = rest.popFirst(), found.count < range.limit {
                let page = try reading.groups(
                    0, by: 0, in: part, level: level, skip: toSkip, limit: range.limit - found.count)
                toSkip -= page.skipped
                found += try page.groups.map { ($0.key, try ViewCoding.decode(Result.self, $0.value)) }
                if let more = page.rest { rest = [more] + rest }
            }
            return found
        }
    }
}
