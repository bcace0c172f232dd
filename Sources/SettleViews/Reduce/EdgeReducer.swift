internal import SettleCore
internal import SettleDatabase

/// The value of the first or the last row: `_first` and `_last`.
struct EdgeReducer: ViewReducer {
    let isLast: Bool
    /// The order of the view's keys.
    let order: KeyOrder

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in
            guard var edge = rows.first else { return JSON.null.utf8 }
            for row in rows where RowPosition.isBefore(row.position, edge.position) != isLast { edge = row }
            return [UInt8(ascii: "[")] + edge.key + [UInt8(ascii: ",")]
                + JSON.string(String(decoding: edge.id, as: UTF8.self)).utf8
                + [UInt8(ascii: ",")] + edge.value + [UInt8(ascii: "]")]
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        groups.map { values in
            var edge: (place: [UInt8], value: [UInt8])?
            for value in values {
                guard let row = (try? JSON(utf8: value))?.array, row.count == 3, let id = row[1].string else {
                    continue
                }
                let place = RowPosition.make(
                    key: SortKey.of(row[0], in: order), id: DocumentID(unchecked: id), number: 0)
                if let known = edge, RowPosition.isBefore(place, known.place) == isLast { continue }
                edge = (place, value)
            }
            return edge?.value ?? JSON.null.utf8
        }
    }

    func finish(_ value: [UInt8]) throws -> [UInt8] { (try? JSON(utf8: value))?[2]?.utf8 ?? JSON.null.utf8 }
}
