internal import SettleCore
import SettleDatabase
internal import SettleQuery

/// Chooses the index that answers a query, as CouchDB does.
///
///     all indexes ──→ without partial ones, except those requested by name
///                 ──→ usable: the selector requires all of its fields that are not sorted by, and it has the order
///                 ──→ those requested by name, if there are any
///                 ──→ an index of fields rather than the list of all documents
///                 ──→ most conditions on its first fields, then fewest fields, then the names
///
/// A query with `$text` is answered by a text index only, and a text index answers no other query. If no index has the
/// order, a query that may be sorted in memory is planned without its order.
package struct FindPlanner {
    private let options: FindOptions
    /// The conditions on documents.
    let selector: MangoSelector
    /// The searches for a text index.
    let searches: [String]
    private let indexes: [QueryIndex]
    private let ranges: SelectorRanges
    /// The paths, as bytes, of members that all matching documents have.
    private let required: Set<[UInt8]>
    /// The order to sort the documents in, when no index has it.
    private var sortedInMemory: [SortField] = []

    /// - Parameters:
    ///   - options: The query.
    ///   - indexes: The available indexes, including the list of all documents.
    package init(_ options: FindOptions, indexes: [QueryIndex]) {
        self.options = options
        selector = options.selector.withoutSearches
        searches = options.selector.searches
        self.indexes = indexes
        ranges = SelectorRanges(selector)
        required = selector.requiredFields
    }

    /// Chooses an index.
    ///
    /// - Returns: The plan.
    /// - Throws: ``QueryError``: `noUsableIndex` if no index has the order or there is no text index,
    ///   `multipleTextIndexes` if there are several text indexes, or `invalidIndex` if the requested index does not
    ///   fit and no other is allowed.
    package func plan() throws -> FindPlan {
        if let unordered { return try unordered.plan() }
        guard let index = try chosen().winner else { throw noUsableIndex }
        return plan(index)
    }

    /// The same query without an order, if no index has the order and the documents may be sorted in memory.
    var unordered: FindPlanner? {
        guard options.sortLimit != nil, !options.sort.isEmpty, searches.isEmpty,
            !inScope.contains(where: { unusable(indexes[$0]).isEmpty })
        else { return nil }
        var unordered = options
        unordered.sort = []
        var planner = FindPlanner(unordered, indexes: indexes)
        planner.sortedInMemory = options.sort
        return planner
    }

    private var noUsableIndex: QueryError {
        guard searches.isEmpty else {
            return QueryError(
                .noUsableIndex, "No text index exists for this search; $text needs an index of type text.")
        }
        return QueryError(.noUsableIndex, "No index exists for this sort, try indexing by the sort fields.")
    }

    /// The positions of the indexes without a partial filter.
    private var global: [Int] { indexes.indices.filter { indexes[$0].partialFilter == nil } }

    /// The positions of the indexes that may be considered: partial ones only if requested by name.
    private var inScope: [Int] {
        let named = indexes.indices.filter { indexes[$0].partialFilter != nil && options.names(indexes[$0]) }
        return (global + named).filter { !indexes[$0].isPartitioned }
    }

    /// Chooses an index and records the reasons.
    ///
    /// - Parameter isExplained: Whether a missing index for the order is acceptable; then there is no winner.
    /// - Returns: The trace with the winner.
    /// - Throws: ``QueryError``.
    func chosen(isExplained: Bool = false) throws -> FindTrace {
        let inScope = inScope
        let reasons = inScope.map { unusable(indexes[$0]) }
        var trace = FindTrace(indexes: indexes, global: global, inScope: inScope, reasons: reasons)
        let usable = trace.usable
        guard !usable.isEmpty || isExplained else { throw noUsableIndex }
        var filtered = usable.filter { options.names(indexes[$0]) }
        if filtered.isEmpty {
            guard options.allowsFallback || (options.useIndex.isEmpty && usable.count > 1) else { throw invalidIndex }
            filtered = usable
        }
        trace.filtered = filtered
        guard searches.isEmpty else { return try chosen(ofTexts: trace, isExplained) }
        let ofFields = filtered.filter { !indexes[$0].isAllDocuments }
        trace.ofType = ofFields.isEmpty ? filtered : ofFields
        // For the list of all documents, the range is all ids if no narrower one is known.
        let conditions = ranges.shown.count + (ofFields.isEmpty ? 1 : 0)
        trace.ranked = trace.ofType.map { place in
            let prefix = indexes[place].isAllDocuments ? 1 : ranges.shown(of: indexes[place].columns).count
            return FindTrace.Ranked(place: place, distance: conditions - prefix)
        }
        // The sort is stable, and the indexes are ordered by name.
        trace.ranked.sort { left, right in
            if left.distance != right.distance { return left.distance < right.distance }
            let counts = (indexes[left.place].fields.count, indexes[right.place].fields.count)
            if counts.0 != counts.1 { return counts.0 < counts.1 }
            return QueryIndex.isBefore(indexes[left.place], indexes[right.place])
        }
        return trace
    }

    /// The text index, which must be the only one.
    private func chosen(ofTexts trace: FindTrace, _ isExplained: Bool) throws -> FindTrace {
        guard trace.filtered.count < 2 || isExplained else {
            throw QueryError(.multipleTextIndexes, "You must specify an index with the `use_index` parameter.")
        }
        var trace = trace
        trace.ofType = trace.filtered
        trace.ranked = trace.filtered.count == 1 ? [FindTrace.Ranked(place: trace.filtered[0], distance: 0)] : []
        return trace
    }

    private var invalidIndex: QueryError {
        guard let name = options.indexName else {
            return QueryError(.invalidIndex, "You must specify an index with the `use_index` parameter.")
        }
        return QueryError(
            .invalidIndex, "\(name) specified by `use_index` could not be found or it is not suitable.")
    }

    // MARK: - Whether an index can be used

    /// The reasons why an index is not usable, by CouchDB's names; empty if it is usable.
    private func unusable(_ index: QueryIndex) -> [String] {
        if !searches.isEmpty { return index.search == nil ? ["needs_text_search"] : [] }
        if index.search != nil { return ["field_mismatch"] }
        let sort = options.sort.map(\.path)
        var reasons: [String] = []
        if index.isAllDocuments {
            guard !sort.isEmpty else { return [] }
            if !ranges.conditions.contains(where: { $0.path == "_id" }) { reasons.append("field_mismatch") }
            if sort != ["_id"] { reasons.append("sort_order_mismatch") }
            return reasons
        }
        // Members in the order must exist. Every document has an id and a revision.
        let given = sort + ["_id", "_rev"]
        let isGiven = index.fields.allSatisfy { field in
            given.contains { $0.utf8.elementsEqual(field.path.utf8) } || required.contains(Array(field.path.utf8))
        }
        if !isGiven { reasons.append("field_mismatch") }
        if !serves(index.columns[...]) { reasons.append("sort_order_mismatch") }
        return reasons
    }

    /// Whether rows ordered by some members have the requested order; members with the same value in all rows are
    /// ignored.
    private func serves(_ columns: ArraySlice<String>) -> Bool {
        let sort = options.sort.map { Array($0.path.utf8) }
        guard let wanted = sort.first else { return true }
        guard let column = columns.first else { return false }
        if Array(column.utf8) == wanted { return columns.map { Array($0.utf8) }.starts(with: sort) }
        return selector.isConstant(column) && serves(columns.dropFirst())
    }

    // MARK: - The range of an index to search

    /// The plan for a chosen index.
    func plan(_ index: QueryIndex) -> FindPlan {
        let isDescending = options.sort.first?.isDescending ?? false
        if index.search != nil { return plan(ofTexts: index, isDescending) }
        let isCovering = covers(index)
        let shown: [FieldRange]
        if index.isAllDocuments {
            let range = ranges.shown(of: ["_id"]).first
            shown = [range ?? FieldRange.allIDs]
        } else {
            shown = ranges.shown(of: index.columns)
        }
        let search = selector.isVacuous ? .nowhere : self.search(index, isDescending)
        var bounds: FindPlan.Bounds?
        if shown.count == 1, shown[0].isEmpty {
            // Ids are compared by bytes here, so there may be ids between bounds that contradict each other in
            // collation order.
            if case .nowhere = search {} else { bounds = FindPlan.Bounds(start: .null, end: .null) }
        } else if !selector.isVacuous {
            bounds = index.isAllDocuments ? idBounds(shown[0]) : rowBounds(shown)
        }
        return FindPlan(
            index: index, bounds: bounds.map { isDescending ? .init(start: $0.end, end: $0.start) : $0 },
            isDescending: isDescending, isCovering: isCovering, search: search, isExact: isExact(index),
            sortsInMemory: !sortedInMemory.isEmpty, warnings: warnings(index))
    }

    private func plan(ofTexts index: QueryIndex, _ isDescending: Bool) -> FindPlan {
        FindPlan(
            index: index, bounds: FindPlan.Bounds(start: .null, end: .null), isDescending: isDescending,
            isCovering: false, search: selector.isVacuous ? .nowhere : .texts(searches),
            isExact: selector.fields.isEmpty, sortsInMemory: false, warnings: warnings(index))
    }

    private func idBounds(_ range: FieldRange) -> FindPlan.Bounds {
        FindPlan.Bounds(start: range.lower?.value ?? "", end: range.upper?.value ?? FindPlan.greatest)
    }

    private func rowBounds(_ ranges: [FieldRange]) -> FindPlan.Bounds {
        let start = ranges.prefix { $0.lower != nil }.compactMap { $0.lower?.value }
        let end = ranges.prefix { $0.upper != nil }.compactMap { $0.upper?.value }
        return FindPlan.Bounds(start: .array(start), end: .array(end + [FindPlan.greatest]))
    }

    private func search(_ index: QueryIndex, _ isDescending: Bool) -> FindPlan.Search {
        guard !index.isAllDocuments else {
            guard var ids = ranges.searchedIDs else { return .nowhere }
            ids.descending = isDescending
            return .documents(ids)
        }
        var searched: [FieldRange] = []
        for column in index.columns {
            let range = ranges.searched(column)
            if range.isEmpty { return .nowhere }
            searched.append(range)
        }
        return .rows(RowRange(arraysFrom: searched, descending: isDescending))
    }

    /// Whether all rows in the range match. Then the selector only restricts the first members of the index to
    /// ranges, and all ranges except for the last contain one value.
    private func isExact(_ index: QueryIndex) -> Bool {
        guard selector.isConjunction, !selector.isVacuous else { return false }
        let columns = index.columns
        var last = -1
        for condition in ranges.conditions {
            guard let place = columns.firstIndex(where: { $0.utf8.elementsEqual(condition.path.utf8) }) else {
                return false
            }
            switch condition.range {
            case .existing: break
            case .missing, .prefix: return false
            default:
                // Conditions on ids compare bytes, unlike the order of an index.
                if !index.isAllDocuments, condition.path == "_id" { return false }
                last = max(last, place)
            }
        }
        return index.isAllDocuments
            || columns.indices.prefix(max(last, 0)).allSatisfy {
                ranges.searched(columns[$0]).isEqual
            }
    }

    /// Whether an index has all members in conditions and in the selection.
    private func covers(_ index: QueryIndex) -> Bool {
        !options.fields.isEmpty && sortedInMemory.isEmpty && index.has(options.fields + selector.fields)
    }

    private func warnings(_ index: QueryIndex) -> [String] {
        var warnings: [String] = []
        if let name = options.indexName, !options.names(index) {
            let reason =
                options.useIndex.count < 2
                ? "it does not contain a valid index for this query." : "it is not a valid index for this query."
            warnings.append("\(name) was not used because \(reason)")
        }
        if index.isAllDocuments {
            warnings.append("No matching index found, create an index to optimize query time.")
            if options.givesHints { warnings += global.compactMap { hint(indexes[$0]) } }
        }
        if !sortedInMemory.isEmpty { warnings.append(DocumentSorter.warning(sortedInMemory)) }
        return warnings
    }
}

extension FindPlanner {
    /// The reason why an index whose first member has a condition is not used; `nil` for any other index.
    private func hint(_ index: QueryIndex) -> String? {
        guard !index.isAllDocuments, index.search == nil, let first = index.columns.first,
            !ranges.shown(of: [first]).isEmpty
        else { return nil }
        let missing = index.columns.filter { !["_id", "_rev"].contains($0) && !required.contains(Array($0.utf8)) }
        guard !missing.isEmpty else { return nil }
        let listed = missing.map { "\"\($0)\"" }.joined(separator: ", ")
        let conditions = missing.map { "$0[\"\($0)\"].exists" }.joined(separator: " && ")
        return """
            The index \(index.name) begins with "\(first)" and is not used: it contains only documents with \(listed), and the conditions \
            don't require that. Add \(conditions), or create an index on "\(first)" alone.
            """
    }
}

extension FieldRange {
    /// The range of all ids, as CouchDB shows it.
    static var allIDs: FieldRange {
        var range = FieldRange()
        range.rise(to: .null, isIncluded: false, by: ErlangOrder.compare)
        return range
    }
}
