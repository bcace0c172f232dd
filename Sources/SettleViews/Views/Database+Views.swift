import RevisionTree
public import SettleDatabase

extension Database {
    /// The rows of a view, in the order of their keys; those of one key in the order of their documents' ids.
    ///
    /// What has changed since the view was last asked is mapped before.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - range: Which rows; all unless given, which takes memory for all of them.
    /// - Returns: The rows, all of one state of the database.
    /// - Throws: ``DatabaseError``; `DecodingError` when a row does not fit the view's types, so that ``View/version`` should
    ///   have been raised.
    /// - Complexity: O(log *n* + *k*) for *k* of *n* rows, and what there is to map.
    public func rows<Key, Value>(
        of view: View<Key, Value>, in range: ViewRange<Key> = .all
    ) throws -> [ViewRow<Key, Value>] {
        let index = try view.index(of: self)
        try index.update(from: self, by: view.mapper)
        return try index.read { try $0.rows(range) }
    }

    /// How many rows a view has in a range.
    ///
    /// - Throws: ``DatabaseError``.
    /// - Complexity: O(log *n*), and what there is to map.
    public func count<Key, Value>(of view: View<Key, Value>, in range: ViewRange<Key> = .all) throws -> Int {
        let index = try view.index(of: self)
        try index.update(from: self, by: view.mapper)
        let count = try index.read { reading in
            try range.parts().reduce(0) { try $0 + reading.count(0, in: $1) }
        }
        return min(max(count - range.skipped, 0), range.limit)
    }

    /// Observes rows of a view: first as they are, then whenever they are others.
    ///
    /// - Returns: The rows, each time all of the range, without end.
    public func observe<Key, Value>(
        _ view: View<Key, Value>, in range: ViewRange<Key> = .all
    ) -> ViewObservation<Key, Value> {
        ViewObservation(database: self, view: view, range: range)
    }
}

extension IndexReading {
    /// The rows of a range of a view of closures.
    func rows<Key, Value>(_ range: ViewRange<Key>) throws -> [ViewRow<Key, Value>] {
        try indexRows(range).map { try ViewRow($0) }
    }

    /// The same, as they lie in the index.
    func indexRows(_ range: ViewRange<some Codable & Sendable>) throws -> [IndexRow] {
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
}
