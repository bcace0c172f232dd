package import RevisionTree
package import SettleDatabase

/// A part of a view's rows.
///
///     lower ≤ position < upper        nil: no bound
package struct RowRange: Sendable {
    var lower: [UInt8]?
    var upper: [UInt8]?
    /// Whether it is the rest of a range whose first chunk was read.
    var isResumed = false
    /// Whether the highest comes first.
    package var descending: Bool

    /// All rows.
    package init(descending: Bool = false) { self.descending = descending }

    /// The rows between two keys.
    ///
    /// - Parameters:
    ///   - start: The key to begin at, the highest one when descending; `nil` for all.
    ///   - startID: From which document on, among those of the first key.
    ///   - end: The key to end at.
    ///   - endID: Up to which document, among those of the last key.
    ///   - includesEnd: Whether what is at the end belongs to it.
    ///   - descending: Whether the highest comes first.
    ///   - order: The order of the view's keys.
    package init(
        start: JSON?, startID: DocumentID? = nil, end: JSON?, endID: DocumentID? = nil, includesEnd: Bool = true,
        descending: Bool = false, order: KeyOrder = .collation
    ) {
        self.descending = descending
        let (startKey, endKey) = (start.map { SortKey.of($0, in: order) }, end.map { SortKey.of($0, in: order) })
        if descending {
            upper = startKey.map { RowPosition.behind(key: $0, id: startID) }
            lower = endKey.map { key in
                if includesEnd { return RowPosition.from(key: key, id: endID) }
                return RowPosition.behind(key: key, id: endID)
            }
        } else {
            lower = startKey.map { RowPosition.from(key: $0, id: startID) }
            upper = endKey.map { key in
                if includesEnd { return RowPosition.behind(key: key, id: endID) }
                return RowPosition.from(key: key, id: endID)
            }
        }
    }

    /// Leaves out the rows of a key at the upper end.
    mutating func exclude(_ key: JSON?) {
        if let key { upper = SortKey.of(key) }
    }

    /// The rows of one key.
    package init(key: JSON, descending: Bool = false, order: KeyOrder = .collation) {
        self.init(start: key, end: key, descending: descending, order: order)
    }

    /// The same range behind a row that was seen.
    func after(_ position: [UInt8]) -> RowRange {
        var rest = self
        if descending { rest.upper = position } else { rest.lower = position + [0] }
        return rest
    }
}
