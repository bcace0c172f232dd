public import SettleCore
public import SettleDatabase

extension Database {
    /// The rows of a view, ordered by key; rows with the same key are ordered by document id.
    ///
    /// Changes since the last query of the view are mapped first.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - range: The range of rows; all by default, which takes memory for all of them.
    /// - Returns: The rows, all from one snapshot of the database.
    /// - Throws: ``DatabaseError``; `DecodingError` if a row does not fit the view's types, which means that
    ///   ``MapIndex/version`` should have been increased.
    /// - Complexity: O(log *n* + *k*) for *k* of *n* rows, plus the update of the index.
    public func rows<Key, Value>(
        of view: MapIndex<Key, Value>, in range: MapIndexRange<Key> = .all
    ) throws -> [MapIndexRow<Key, Value>] {
        let index = try view.index(of: self)
        try index.update(from: self, by: view.mapper)
        return try index.read { try $0.rows(range) }
    }

    /// Counts the rows of a view in a range.
    ///
    /// - Throws: ``DatabaseError``.
    /// - Complexity: O(log *n*), plus the update of the index.
    public func count<Key, Value>(of view: MapIndex<Key, Value>, in range: MapIndexRange<Key> = .all) throws -> Int {
        let index = try view.index(of: self)
        try index.update(from: self, by: view.mapper)
        let count = try index.read { reading in
            try range.parts().reduce(0) { try $0 + reading.count(0, in: $1) }
        }
        return min(max(count - range.skipped, 0), range.limit)
    }

    /// Observes rows of a view: the current ones first, then after each change of them.
    ///
    /// - Returns: An endless sequence of all rows of the range.
    public func observe<Key, Value>(
        _ view: MapIndex<Key, Value>, in range: MapIndexRange<Key> = .all
    ) -> MapIndexObservation<Key, Value> {
        MapIndexObservation(database: self, view: view, range: range)
    }
}

extension IndexReading {
    /// The rows of a range of a view with closures.
    func rows<Key, Value>(_ range: MapIndexRange<Key>) throws -> [MapIndexRow<Key, Value>] {
        try indexRows(range).map { try MapIndexRow($0) }
    }

    /// The same rows, as stored in the index.
    func indexRows(_ range: MapIndexRange<some Codable & Sendable>) throws -> [IndexRow] {
        var rows: [IndexRow] = []
        var toSkip = range.skipped
        for part in try range.parts() where rows.count < range.limit {
            let count = try count(0, in: part)
            guard toSkip < count else {
                toSkip -= count
                continue
            }
            rows += try self.rows(0, in: part, skip: toSkip, limit: range.limit - rows.count)
            toSkip = 0
        }
        return rows
    }

    /// The reduction of the rows of a range; `nil` if it has no rows. The reducer must not have its own `finish`.
    func reduced(_ range: MapIndexRange<some Codable & Sendable>, by reducer: any ViewReducer) throws -> [UInt8]? {
        guard range.skipped == 0, range.limit == .max else {
            // The stored reductions are those of all rows between two keys.
            let rows = try indexRows(range)
            return rows.isEmpty ? nil : try reducer.reduce([rows]).first
        }
        let values = try range.parts().flatMap { try groups(0, by: 0, in: $0, level: .none).groups.map(\.value) }
        return values.isEmpty ? nil : try reducer.rereduce([values]).first
    }
}

// MARK: - Map Reduce Indexes

extension Database {
    /// Reduces the rows of a range, those that ``rows(of:in:)`` returns; `nil` for a range without rows.
    ///
    /// - Throws: ``DatabaseError``, or `DecodingError` as ``rows(of:in:)`` does.
    /// - Complexity: O(log *n*) plus a small part of the range, plus the update of the index. A range with
    ///   ``MapIndexRange/prefix(_:)`` or ``MapIndexRange/dropFirst(_:)`` is read row by row.
    public func reduce<Key, Value, Result>(
        _ view: MapReduceIndex<Key, Value, Result>, in range: MapIndexRange<Key> = .all
    ) throws -> Result? {
        let index = try view.index(of: self)
        try index.update(from: self, by: view.view.mapper)
        let value = try index.read { try $0.reduced(range, by: view.reduction.reducer) }
        return try value.map { try ViewCoding.decode(Result.self, $0) }
    }

    /// Reduces the rows of each key, in the order of the keys. ``MapIndexRange/prefix(_:)`` and
    /// ``MapIndexRange/dropFirst(_:)`` count keys here, not rows.
    ///
    /// - Throws: As ``reduce(_:in:)`` does.
    public func groups<Key, Value, Result>(
        of view: MapReduceIndex<Key, Value, Result>, in range: MapIndexRange<Key> = .all
    ) throws -> [MapReduceRow<Key, Result>] {
        try groups(of: view, in: range, level: .exact).map { key, value in
            MapReduceRow(key: try ViewCoding.decode(Key.self, key), value: value)
        }
    }

    /// Reduces the rows whose keys are arrays with the same first elements, ordered by key; CouchDB's
    /// `group_level`. ``MapIndexRange/prefix(_:)`` and ``MapIndexRange/dropFirst(_:)`` count groups here, not rows.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - count: The number of elements; a negative one counts as 0, so that all arrays are one group.
    ///   - range: The range of rows.
    /// - Returns: The reduced value for each group.
    /// - Throws: As ``reduce(_:in:)`` does.
    public func groups<Key, Value, Result>(
        of view: MapReduceIndex<Key, Value, Result>, byFirst count: Int, in range: MapIndexRange<Key> = .all
    ) throws -> [MapReduceRow<JSONValue, Result>] {
        try groups(of: view, in: range, level: .elements(max(count, 0))).map { key, value in
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
