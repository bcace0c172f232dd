internal import RevisionTree
internal import SettleDatabase

/// The ranges that a selector's conditions allow for members, as they are shown and as they are searched.
///
/// They differ where CouchDB's own ranges would leave out documents that match:
///
/// - Ids are compared by their bytes, while an index of them is in the order of collation; so of such an index only a
///   single id is a range. And two conditions on ids may contradict each other in one order and not in the other.
/// - What begins with a text need not stand beside it in the order of collation, when the text is not of a script in which
///   letters are independent of their neighbours; it is searched as far as that is so.
struct SelectorRanges {
    private let conditions: [SelectorCondition]
    /// The members with conditions, in the order of their bytes, with their ranges as CouchDB has them; one that is empty
    /// is the only one.
    let shown: [(path: String, range: FieldRange)]

    init(_ selector: Selector) {
        conditions = selector.conditions
        var paths: [String] = []
        for condition in conditions where !paths.contains(where: { $0.utf8.elementsEqual(condition.path.utf8) }) {
            paths.append(condition.path)
        }
        paths.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var shown: [(String, FieldRange)] = []
        for path in paths {
            var range = FieldRange()
            for condition in conditions where condition.path.utf8.elementsEqual(path.utf8) {
                range.narrow(condition, by: Collation.compare)
            }
            if range.isEmpty {
                shown = [(path, range)]
                break
            }
            shown.append((path, range))
        }
        self.shown = shown
    }

    /// The ranges of the first of some members, up to one without conditions, as CouchDB has them.
    func shown(of columns: [String]) -> [FieldRange] {
        var ranges: [FieldRange] = []
        for column in columns {
            guard let known = shown.first(where: { $0.path.utf8.elementsEqual(column.utf8) }) else { break }
            ranges.append(known.range)
        }
        return ranges
    }

    /// The range of a member to search in an index in the order of collation.
    func searched(_ path: String) -> FieldRange {
        let isID = path == "_id"
        let order: FieldRange.Order = { left, right in
            isID ? ErlangOrder.compare(left, right) : Collation.compare(left, right)
        }
        var range = FieldRange()
        for condition in conditions where condition.path.utf8.elementsEqual(path.utf8) {
            if isID {
                if condition.kind == .equal { range.narrow(condition, by: order) }
            } else if condition.kind == .prefix {
                Self.narrow(&range, toTextsWith: condition.argument.string ?? "")
            } else {
                range.narrow(condition, by: order)
            }
        }
        return range
    }

    private static func narrow(_ range: inout FieldRange, toTextsWith prefix: String) {
        let prefix = TextPrefix.searchable(prefix)
        range.rise(to: .string(prefix), isIncluded: true, by: Collation.compare)
        // Arrays are behind all texts.
        let end: JSON = prefix.isEmpty ? .array([]) : .string(prefix + "\u{FFFF}")
        range.fall(to: end, isIncluded: !prefix.isEmpty, by: Collation.compare)
    }

    /// The range of ids to search in the list of all documents; `nil` when no id is in it.
    var searchedIDs: DocumentRange? {
        var range = FieldRange()
        for condition in conditions where condition.path == "_id" {
            guard condition.kind == .prefix, let prefix = condition.argument.string else {
                range.narrow(condition, by: ErlangOrder.compare)
                continue
            }
            range.rise(to: .string(prefix), isIncluded: true, by: ErlangOrder.compare)
            if let end = TextPrefix.end(of: prefix) {
                range.fall(to: .string(end), isIncluded: false, by: ErlangOrder.compare)
            }
        }
        guard !range.isEmpty else { return nil }
        var documents = DocumentRange()
        // What is no text is before all ids.
        if let lower = range.lower, let text = lower.value.string {
            let id = DocumentID(unchecked: text)
            if lower.isIncluded { documents.from = id } else { documents.after = id }
        }
        if let upper = range.upper {
            guard let text = upper.value.string else { return nil }
            let id = DocumentID(unchecked: text)
            if upper.isIncluded { documents.through = id } else { documents.before = id }
        }
        return documents
    }
}
