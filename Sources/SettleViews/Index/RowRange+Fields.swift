internal import SettleCore
internal import SettleDatabase

extension RowRange {
    /// The rows whose keys are arrays of values in ranges: those between the least and the greatest array with all
    /// values in range.
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
    func after(key: JSON, id: DocumentID) -> RowRange {
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
