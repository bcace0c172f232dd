package import SettleCore
internal import SettleDatabase

extension BuiltInReducer {
    /// A row that is in no index.
    package typealias LooseRow = (id: String, key: JSONValue, value: JSONValue)

    /// Reduces rows that are in no index to one value, as a query without groups would.
    ///
    /// - Parameters:
    ///   - rows: The rows, in any order.
    ///   - name: The function's name.
    /// - Returns: The value; `nil` if no function has this name.
    /// - Throws: `MapIndexError` where the function can't reduce a value, as `_sum` of a text.
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
