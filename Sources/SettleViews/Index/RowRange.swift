package import SettleCore
package import SettleQuery

/// A range of a view's rows.
///
///     lower ≤ position < upper        nil: no bound
package struct RowRange: Sendable {
    var lower: [UInt8]?
    var upper: [UInt8]?
    /// Whether it is the rest of a range whose first chunk was already read.
    var isResumed = false
    /// Whether the order is descending.
    package var descending: Bool

    /// All rows.
    package init(descending: Bool = false) { self.descending = descending }

    /// The rows between two keys.
    ///
    /// - Parameters:
    ///   - start: The key to start at, the highest one when descending; `nil` for no bound.
    ///   - startID: The first document among those with the start key.
    ///   - end: The key to end at.
    ///   - endID: The last document among those with the end key.
    ///   - includesEnd: Whether rows at the end are included.
    ///   - descending: Whether the order is descending.
    ///   - order: The order of the view's keys.
    package init(
        start: JSONValue?, startID: DocumentID? = nil, end: JSONValue?, endID: DocumentID? = nil,
        includesEnd: Bool = true,
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

    /// Excludes the rows of a key at the upper end.
    mutating func exclude(_ key: JSONValue?) {
        if let key { upper = SortKey.of(key) }
    }

    /// The rows of one key.
    package init(key: JSONValue, descending: Bool = false, order: KeyOrder = .collation) {
        self.init(start: key, end: key, descending: descending, order: order)
    }

    /// The part of the range after a row.
    func after(_ position: [UInt8]) -> RowRange {
        var rest = self
        if descending { rest.upper = position } else { rest.lower = position + [0] }
        return rest
    }
}

extension RowRange {
    /// The rows whose keys are arrays of values in ranges: the rows between the smallest and the largest array with
    /// all values in range.
    ///
    ///     1 < a ≤ 5, 2 ≤ b      →     after all [1, …]  …  up to all [5, …]
    init(arraysFrom ranges: [FieldRange], descending: Bool) {
        self.init(descending: descending)
        let array: UInt8 = 0x50
        var from = [array]
        for range in ranges {
            guard let bound = range.lower else { break }
            SortKey.append(bound.value, to: &from)
            if !bound.isIncluded {
                from.append(0xFF)
                break
            }
        }
        var to = [array]
        var isIncluded = true
        for range in ranges {
            guard let bound = range.upper else { break }
            SortKey.append(bound.value, to: &to)
            if !bound.isIncluded {
                isIncluded = false
                break
            }
        }
        if isIncluded { to.append(0xFF) }
        (lower, upper) = (from, to)
    }

    /// The part of the range after the row of a document and a key.
    func after(key: JSONValue, id: DocumentID) -> RowRange {
        var rest = self
        let key = SortKey.of(key)
        if descending {
            let place = RowPosition.from(key: key, id: id)
            if rest.upper.map({ RowPosition.isBefore(place, $0) }) ?? true { rest.upper = place }
        } else {
            let place = RowPosition.behind(key: key, id: id)
            if rest.lower.map({ RowPosition.isBefore($0, place) }) ?? true { rest.lower = place }
        }
        return rest
    }
}

// MARK: - RowPosition

/// The bytes by which rows are ordered: the key, the document's id, and the number among the rows of both.
///
///     key's SortKey │ id, 00 as 00 01 │ 00 00 │ number, four bytes from the highest down
enum RowPosition {
    /// The position of a row.
    static func make(key: [UInt8], id: DocumentID, number: Int) -> [UInt8] {
        var bytes = key
        bytes.reserveCapacity(key.count + id.string.utf8.count + 6)
        append(id, to: &bytes)
        bytes += [0, 0]
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        return bytes
    }

    /// The number in a position.
    static func number(of position: some Collection<UInt8>) -> Int {
        position.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// An inclusive lower bound of the positions of a key, for documents from an id on.
    static func from(key: [UInt8], id: DocumentID?) -> [UInt8] {
        var bytes = key
        if let id { append(id, to: &bytes) }
        return bytes
    }

    /// An exclusive upper bound of the positions of a key, for documents up to an id.
    static func behind(key: [UInt8], id: DocumentID?) -> [UInt8] {
        var bytes = key
        guard let id else { return bytes + [0xFF] }
        append(id, to: &bytes)
        return bytes + [0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    }

    private static func append(_ id: DocumentID, to bytes: inout [UInt8]) {
        for byte in id.string.utf8 {
            bytes.append(byte)
            if byte == 0 { bytes.append(1) }
        }
    }

    /// Whether one position precedes another.
    static func isBefore(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}
