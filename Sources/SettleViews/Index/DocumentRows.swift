internal import SettleCore
internal import SettleDatabase

/// The rows of one document, numbered among those of the same view and key.
///
/// Rows of one key are ordered by their values, as in CouchDB (``ErlangOrder``), and rows with equal values by the
/// order in which they were emitted.
struct DocumentRows {
    /// A row to be written to an index.
    struct Row {
        /// The emission.
        let emission: Emission
        /// The key's ``SortKey``.
        let key: [UInt8]
        /// The number among the rows of its key, from 0.
        fileprivate(set) var number = 0

        fileprivate func hasKey(of other: Row) -> Bool { emission.view == other.emission.view && key == other.key }
    }

    /// The rows, by view and key.
    let rows: [Row]

    /// Sorts a document's emissions. Keys that are not JSON are dropped.
    ///
    /// - Complexity: O(*n* log *n*) for *n* emissions.
    init(_ emissions: [Emission], _ definitions: [ViewDefinition]) {
        var rows: [Row] = []
        rows.reserveCapacity(emissions.count)
        for emission in emissions where definitions.indices.contains(emission.view) {
            var key: [UInt8] = []
            let order = definitions[emission.view].order
            do { try SortKey.append(json: emission.key[...], to: &key, in: order) } catch { continue }
            rows.append(Row(emission: emission, key: key))
        }
        guard rows.count > 1 else {
            self.rows = rows
            return
        }
        // Sorting indexes preserves the order of equal rows.
        rows = rows.indices.sorted { Self.isBefore(rows[$0], rows[$1]) ?? ($0 < $1) }.map { rows[$0] }
        var start = 0
        while start < rows.count {
            let end = rows[start...].firstIndex { !$0.hasKey(of: rows[start]) } ?? rows.count
            if end - start > 1 { Self.number(&rows, start..<end) }
            start = end
        }
        self.rows = rows
    }

    /// Whether a row's view and key precede another's; `nil` when they are the same.
    private static func isBefore(_ left: Row, _ right: Row) -> Bool? {
        if left.emission.view != right.emission.view { return left.emission.view < right.emission.view }
        return left.key == right.key ? nil : left.key.lexicographicallyPrecedes(right.key)
    }

    /// Sorts rows of one key by their values and numbers them.
    private static func number(_ rows: inout [Row], _ range: Range<Int>) {
        let values = rows[range].map { (try? JSONValue(utf8: $0.emission.value)) ?? .null }
        let order = values.indices.sorted { left, right in
            let order = ErlangOrder.compare(values[left], values[right])
            return order == .same ? left < right : order == .before
        }
        let old = Array(rows[range])
        for (number, place) in order.enumerated() {
            rows[range.lowerBound + number] = old[place]
            rows[range.lowerBound + number].number = number
        }
    }
}
