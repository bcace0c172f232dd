internal import SettleCore
internal import SettleDatabase
internal import SettleQuery

/// The ranges of members that a selector's conditions allow, as they are shown and as they are searched.
///
/// They differ if CouchDB's own ranges would miss matching documents:
///
/// - Ids are compared by bytes, while an index of them is in collation order. So only a single id is a range of
///   such an index, and two conditions on ids may contradict each other in one order but not in the other.
/// - Strings with the same prefix need not be adjacent in collation order, unless the prefix is in a script in which
///   letters sort independently of their neighbours; only that part of the prefix is searched.
struct SelectorRanges {
    /// The conditions that narrow an index.
    let conditions: [SelectorCondition]
    /// The members with conditions, ordered by their bytes, with their ranges in the form that CouchDB shows. An
    /// empty range is the only element.
    let shown: [(path: String, range: FieldRange)]

    init(_ selector: MangoSelector) {
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

    /// The ranges of the first of some members, up to the first one without conditions, in the form that CouchDB
    /// shows.
    func shown(of columns: [String]) -> [FieldRange] {
        var ranges: [FieldRange] = []
        for column in columns {
            guard let known = shown.first(where: { $0.path.utf8.elementsEqual(column.utf8) }) else { break }
            ranges.append(known.range)
        }
        return ranges
    }

    /// The range of a member to search in an index in collation order.
    func searched(_ path: String) -> FieldRange {
        let isID = path == "_id"
        let order: FieldRange.Order = { left, right in
            isID ? ErlangOrder.compare(left, right) : Collation.compare(left, right)
        }
        var range = FieldRange()
        for condition in conditions where condition.path.utf8.elementsEqual(path.utf8) {
            switch condition.range {
            case .exactly: range.narrow(condition, by: order)
            case _ where isID: break
            case .prefix(let prefix): Self.narrow(&range, toTextsWith: prefix)
            default: range.narrow(condition, by: order)
            }
        }
        return range
    }

    private static func narrow(_ range: inout FieldRange, toTextsWith prefix: String) {
        let prefix = TextPrefix.searchable(prefix)
        range.rise(to: .string(prefix), isIncluded: true, by: Collation.compare)
        // Arrays sort after all strings.
        let end: JSONValue = prefix.isEmpty ? .array([]) : .string(prefix + "\u{FFFF}")
        range.fall(to: end, isIncluded: !prefix.isEmpty, by: Collation.compare)
    }

    /// The range of ids to search in the list of all documents; `nil` when it contains no id.
    var searchedIDs: DocumentRange? {
        var range = FieldRange()
        for condition in conditions where condition.path == "_id" {
            guard case .prefix(let prefix) = condition.range else {
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
        // Values that are not strings sort before all ids.
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

/// The sort positions of strings with a common prefix.
enum TextPrefix {
    /// The longest part of a prefix for which all strings that begin with it are adjacent in collation order.
    ///
    /// That requires letters that sort independently of the following ones, as in ASCII and in the syllables and
    /// ideographs of Japanese, Chinese and Korean. In Thai a leading vowel is swapped with the next consonant, in
    /// Cyrillic some letters with an accent are separate letters, and an accent may be sorted before an earlier one.
    static func searchable(_ prefix: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in prefix.unicodeScalars {
            guard isIndependent(scalar) else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    private static func isIndependent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
        default: false
        }
    }

    /// The first string, by bytes, after all strings with a prefix; `nil` if no string comes after them.
    static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            guard last.value < 0x10FFFF else { continue }
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            return String(String.UnicodeScalarView(scalars + [scalar]))
        }
        return nil
    }
}

// MARK: - FieldRange

/// The values of one member that conditions allow, as one range of the comparison order.
///
///     {"$gte": 1, "$lt": 5, "$gt": 0}    →    1 ≤ value < 5
struct FieldRange: Sendable {
    /// A bound of the range.
    struct Bound: Sendable {
        let value: JSONValue
        /// Whether the value itself belongs to the range.
        let isIncluded: Bool
    }

    /// Compares two values.
    typealias Order = (JSONValue, JSONValue) -> Collation.Order

    private(set) var lower: Bound?
    private(set) var upper: Bound?
    /// Whether it contains no values.
    private(set) var isEmpty = false
    /// Whether it contains exactly one value.
    private(set) var isEqual = false

    /// Raises the lower bound to a value.
    mutating func rise(to value: JSONValue, isIncluded: Bool, by order: Order) {
        if let lower {
            switch order(value, lower.value) {
            case .before: break
            case .same where isIncluded || !lower.isIncluded: break
            default: self.lower = Bound(value: value, isIncluded: isIncluded)
            }
        } else {
            lower = Bound(value: value, isIncluded: isIncluded)
        }
        check(order)
    }

    /// Lowers the upper bound to a value.
    mutating func fall(to value: JSONValue, isIncluded: Bool, by order: Order) {
        if let upper {
            switch order(value, upper.value) {
            case .after: break
            case .same where isIncluded || !upper.isIncluded: break
            default: self.upper = Bound(value: value, isIncluded: isIncluded)
            }
        } else {
            upper = Bound(value: value, isIncluded: isIncluded)
        }
        check(order)
    }

    /// Applies a condition as CouchDB does. The range of a prefix is from the text to the same text followed by the
    /// last character of all.
    mutating func narrow(_ condition: SelectorCondition, by order: Order) {
        switch condition.range {
        case .below(let value, let isIncluded): fall(to: value, isIncluded: isIncluded, by: order)
        case .above(let value, let isIncluded): rise(to: value, isIncluded: isIncluded, by: order)
        case .exactly(let value):
            rise(to: value, isIncluded: true, by: order)
            fall(to: value, isIncluded: true, by: order)
        case .prefix(let prefix):
            rise(to: .string(prefix), isIncluded: true, by: order)
            fall(to: .string(prefix + "\u{FFFF}"), isIncluded: true, by: order)
        case .existing, .missing: break
        }
    }

    private mutating func check(_ order: Order) {
        guard let lower, let upper else { return }
        switch order(lower.value, upper.value) {
        case .before: break
        case .same where lower.isIncluded && upper.isIncluded: isEqual = true
        default: isEmpty = true
        }
    }
}
