import SettleCore
internal import SettleDatabase
internal import SettleQuery

/// Finds the documents of a query in batches.
///
/// Each batch reads one snapshot of the index; the next one continues after the last row. So memory is bounded, and a
/// slow reader blocks nothing. A document that was changed after the index was updated is matched in its current
/// state.
package struct FindCursor {
    /// What stays the same while documents are found. It is shared by the copies of a cursor.
    private final class Query: Sendable {
        let plan: FindPlan
        let source: any QuerySource
        let options: FindOptions
        let selector: MangoSelector
        let index: ViewIndex?
        let texts: TextRows?
        let projection: Projection?
        /// The members of a document that are needed to match and return it.
        let asked: NeededMembers
        let shown: NeededMembers
        let filterMembers: NeededMembers
        let sortPaths: [SelectorPath]

        init(_ options: FindOptions, in source: any QuerySource) throws {
            plan = try FindPlanner(options, indexes: QueryIndexes.all(in: source)).plan()
            self.source = source
            self.options = options
            selector = options.selector.withoutSearches
            let asStored = !options.isUpdated
            let isOfMembers = !plan.index.isAllDocuments && plan.index.search == nil
            index = isOfMembers ? try source.rows(of: plan.index, asStored: asStored) : nil
            texts = try plan.searches == nil ? nil : plan.index.search?.rows(in: source.database, asStored: asStored)
            projection = options.fields.isEmpty ? nil : try Projection(options.fields.map { .string($0) })
            asked = NeededMembers(selector.fields + (texts == nil ? [] : options.sort.map(\.untypedPath)))
            shown = NeededMembers(options.fields)
            filterMembers = NeededMembers(plan.index.partialFilter?.fields ?? [])
            sortPaths = options.sort.map { SelectorPath($0.untypedPath) }
        }

        /// Reads a document. Returns `nil` if it does not exist, is deleted, or has damaged content.
        func liveRecord(of id: DocumentID) throws -> DocumentRecord? {
            guard let record = try source.storedRecord(of: id), record.damage == nil, !record.tree.isDeleted else {
                return nil
            }
            return record
        }

        /// Documents by id. A single one is read directly, which may need no waiting.
        func page(of range: DocumentRange, limit: Int) throws -> [DocumentRecord] {
            if let id = range.from, range.through == id, range.after == nil, range.before == nil {
                return try source.storedRecord(of: id).map { [$0] } ?? []
            }
            return try source.database.records(in: range, limit: limit, withContent: true)
        }

        /// Whether a document belongs to the index, by its partial filter.
        func isInFilter(_ record: DocumentRecord) -> Bool {
            guard let filter = plan.index.partialFilter else { return true }
            return filterMembers.json(of: record, hasConflicts: true).map { filter.matches($0) } ?? false
        }

        /// A matching document as the query returns it.
        func found(_ record: DocumentRecord) -> FoundDocument? {
            guard let projection else { return .whole(record) }
            return shown.json(of: record, hasConflicts: options.hasConflicts).map {
                .part(projection.shown(of: $0), id: record.id)
            }
        }
    }

    private let query: Query
    private var finder: TextFinder?
    private var sorter: DocumentSorter?
    private var crossing: ListCrossing?
    private var search: FindPlan.Search
    private var left: Int
    private var toSkip: Int
    private var last: (id: DocumentID, key: [UInt8])?
    /// The limits of the query's work.
    package var budget: QueryBudget
    private var partStart = 0.0

    /// Whether all results were found.
    package private(set) var isDone: Bool
    /// The statistics so far.
    package private(set) var statistics = QueryStatistics()
    /// The warnings for the client so far.
    package private(set) var warnings: [String]

    /// Starts a query.
    ///
    /// - Throws: ``QueryError`` for a query that can't be answered; ``SelectorError`` for invalid fields;
    ///   ``DatabaseError``; ``NotAtHand`` if the source must not wait and its indexes are unknown or not in use.
    package init(_ options: FindOptions, in source: any QuerySource) throws {
        query = try Query(options, in: source)
        budget = options.budget
        if let searches = query.plan.searches, let search = query.plan.index.search {
            finder = try TextFinder(searches, options, in: search, of: source.database)
        }
        crossing = options.givesHints ? ListCrossing(query.selector.fields) : nil
        sorter = query.plan.sortsInMemory ? DocumentSorter(options, limit: options.sortLimit ?? 0) : nil
        search = query.plan.search
        warnings = query.plan.warnings
        (left, toSkip) = (options.limit, options.skip)
        isDone = options.limit == 0
        if let bookmark = options.bookmark, sorter == nil { resume(at: bookmark) }
        if case .nowhere = search { isDone = true }
    }

    /// The plan of the query.
    package var plan: FindPlan { query.plan }

    /// Whether the index is up to date, or need not be.
    package var isCurrent: Bool {
        guard query.options.isUpdated else { return true }
        return query.index?.isCurrent(with: query.source) ?? query.texts?.isCurrent(with: query.source) ?? true
    }

    /// Whether later documents are read from the newest state of the index. Those sorted in memory were all read
    /// before the first was returned, and in a search a write would change the relevance of those already returned.
    var followsWrites: Bool { sorter == nil && query.texts == nil }

    /// Whether the query probably examines few documents, each cheaply.
    package func isQuick(_ few: Int) -> Bool {
        guard isCurrent, query.texts == nil, query.options.limit <= few, query.options.skip <= few,
            !query.selector.isCostly
        else { return false }
        return !query.plan.index.isAllDocuments || query.plan.isExact
    }

    /// The number of changes of the database that are not yet in the index.
    package func behind() throws -> Int {
        guard !isCurrent, let sequence = try query.index?.sequence() ?? query.texts?.sequence() else { return 0 }
        return try query.source.database.count(changedIn: SequenceRange(after: sequence))
    }

    /// Updates the index, unless the query is to use it as it is.
    ///
    /// - Parameter report: Called with the number of processed changes, and of all changes.
    /// - Throws: ``DatabaseError``.
    package func update(report: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }) throws {
        guard query.options.isUpdated else { return }
        let database = try query.source.database
        try query.texts?.update(from: database, report: report)
        try query.index?.update(from: database, by: IndexMapper(query.plan.index), report: report)
    }

    /// The bookmark for a later query: after the last document found, including skipped ones. If no document was
    /// found, it is the given bookmark, or `nil` without one.
    package var bookmark: FindBookmark? {
        guard let last else { return query.options.bookmark }
        return FindBookmark(id: last.id, key: (try? JSONValue(utf8: last.key)) ?? .null)
    }

    private mutating func resume(at bookmark: FindBookmark) {
        switch search {
        case .nowhere, .texts: break
        case .rows(let range): search = .rows(range.after(key: bookmark.key, id: bookmark.id))
        case .documents(var range):
            if range.descending {
                if range.before.map({ bookmark.id < $0 }) ?? true { range.before = bookmark.id }
            } else if range.after.map({ $0 < bookmark.id }) ?? true {
                range.after = bookmark.id
            }
            search = .documents(range)
        }
    }

    // MARK: - Finding

    /// Finds the next documents.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of documents to examine before this returns.
    ///   - body: Called with each document found; returns whether to continue now.
    /// - Throws: ``DatabaseError``, ``QueryError`` with code `tooExpensive`, the budget's error if no client waits
    ///   for the result any longer, or the closure's error.
    package mutating func next(lookingAt limit: Int, _ body: (FoundDocument) throws -> Bool) throws {
        guard !isDone else { return }
        partStart = budget.begin()
        defer { budget.end(partStart) }
        if let sorter, sorter.isFilled { return try giveSorted(limit, body) }
        switch search {
        case .nowhere: isDone = true
        case .documents(let range): try findDocuments(range, limit, body)
        case .rows(let range): try findRows(range, limit, body)
        case .texts: try findTexts(limit, body)
        }
        try budget.check(partStart)
        guard isDone, sorter != nil else { return }
        sorter?.fill()
        isDone = sorter?.isDone ?? true
    }

    /// Checks the steps for each document, but the time only for some: reading the clock takes as long as a small
    /// document.
    private func checkBudget() throws {
        if statistics.keysExamined & 15 == 0 { try budget.check(partStart) } else { try budget.check() }
    }

    private mutating func giveSorted(_ limit: Int, _ body: (FoundDocument) throws -> Bool) throws {
        for _ in 0..<limit {
            guard let next = sorter?.pop() else { break }
            last = (next.found.id, next.key.utf8)
            guard try give(next.found, body) else { break }
        }
        isDone = left == 0 || sorter?.isDone ?? true
    }

    private mutating func findDocuments(
        _ range: DocumentRange, _ limit: Int, _ body: (FoundDocument) throws -> Bool
    ) throws {
        // Start with a small batch: an exact search may end with it.
        let most = left.addingReportingOverflow(toSkip)
        let wanted = query.plan.isExact && !most.overflow && sorter == nil ? min(limit, most.partialValue) : limit
        let page = try query.page(of: range, limit: wanted)
        if page.isLast(of: wanted) { isDone = true }
        var rest = range
        for record in page {
            try checkBudget()
            if range.descending { rest.before = record.id } else { rest.after = record.id }
            guard try examine(record, body) else {
                isDone = left == 0
                break
            }
        }
        search = .documents(rest)
    }

    /// Examines a document of the list of all documents; returns `false` when no more are wanted.
    private mutating func examine(_ record: DocumentRecord, _ body: (FoundDocument) throws -> Bool) throws -> Bool {
        guard record.damage == nil, !record.tree.isDeleted else { return true }
        guard query.plan.isExact || matches(record) else {
            count()
            return true
        }
        // CouchDB does not count skipped documents at this stage either.
        if record.id.isDesign { return true }
        count()
        guard let found = query.found(record) else { return true }
        guard sorter == nil else { return try keep(found, of: record) }
        last = (record.id, JSONValue.string(record.id.string).utf8)
        return try give(found, body)
    }

    /// Keeps a matching document until all of them can be sorted.
    private mutating func keep(_ found: FoundDocument, of record: DocumentRecord) throws -> Bool {
        try sorter?.add(found, of: record)
        return true
    }

    private mutating func findRows(
        _ range: RowRange, _ limit: Int, _ body: (FoundDocument) throws -> Bool
    ) throws {
        guard let index = query.index else { return }
        let covered = query.plan.isCovering ? CoveredDocuments(query.plan.index) : nil
        var me = self
        // Moved out of the property, so that its contents are not copied.
        sorter = nil
        var looked = 0
        let rest = try query.source.read(index) { reading in
            try query.source.snapshot {
                try reading.forEachRow(0, in: range, skip: 0, limit: .max) { row in
                    looked += 1
                    return try me.examine(row, reading.sequence, covered, body) && looked < limit
                }.rest
            }
        }
        self = me
        if let rest { search = .rows(rest) }
        // No remaining range: all rows were examined.
        isDone = left == 0 || rest == nil
    }

    /// Examines a row of the index; returns `false` when no more are wanted.
    private mutating func examine(
        _ row: IndexReading.RawRow, _ sequence: UpdateSequence, _ covered: CoveredDocuments?,
        _ body: (FoundDocument) throws -> Bool
    ) throws -> Bool {
        // A call of this function in the closure of `findRows` would copy the cursor for each row.
        try checkBudget()
        statistics.keysExamined += 1
        let id = DocumentID(unchecked: String(decoding: row.id, as: UTF8.self))
        let found: FoundDocument
        if let covered {
            let document = covered.document(id: id, key: row.key)
            guard query.plan.isExact || query.selector.matches(document, work: budget.work) else { return true }
            found = .part(query.projection?.shown(of: document) ?? document, id: id)
        } else {
            guard let record = try query.liveRecord(of: id) else { return true }
            statistics.documentsExamined += 1
            // A document that was changed meanwhile may no longer match the row.
            let isKnown = record.sequence <= sequence
            guard (query.plan.isExact && isKnown) || matches(record), isKnown || query.isInFilter(record),
                let part = query.found(record)
            else { return true }
            guard sorter == nil else { return try keep(part, of: record) }
            found = part
        }
        last = (id, Array(row.key))
        return try give(found, body)
    }

    private mutating func count() {
        statistics.keysExamined += 1
        statistics.documentsExamined += 1
    }

    private mutating func give(_ found: FoundDocument, _ body: (FoundDocument) throws -> Bool) throws -> Bool {
        guard toSkip == 0 else {
            toSkip -= 1
            return true
        }
        left -= 1
        statistics.results += 1
        return try body(found) && left > 0
    }

    private mutating func matches(_ record: DocumentRecord) -> Bool {
        guard let members = query.asked.json(of: record, hasConflicts: query.options.hasConflicts) else {
            return false
        }
        guard !query.selector.matches(members, work: budget.work) else { return true }
        if let warning = crossing?.warning(for: members) { warnings.append(warning) }
        return false
    }

    // MARK: - Texts

    private mutating func findTexts(_ limit: Int, _ body: (FoundDocument) throws -> Bool) throws {
        guard var finder, let texts = query.texts else { return }
        // Moved out of the property, so that its contents are not copied.
        self.finder = nil
        var me = self
        try query.source.snapshot {
            let sequence = try texts.sequence()
            try finder.fill(lookingAt: limit) { try me.sortKey(of: $0, sequence) }
            for _ in 0..<limit {
                guard let hit = finder.pop() else { break }
                guard try me.examine(hit, sequence, body) else { break }
            }
        }
        self = me
        self.finder = finder
        isDone = left == 0 || finder.isDone
    }

    /// The sort key of a document; `nil` if it does not match, or lacks one of the members.
    private mutating func sortKey(of id: DocumentID, _ sequence: UpdateSequence) throws -> JSONValue? {
        guard let record = try matching(id, sequence),
            let members = query.asked.json(of: record, hasConflicts: false)
        else { return nil }
        var values: [JSONValue] = []
        for path in query.sortPaths {
            guard case .value(let value) = path.destination(in: members) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    /// Examines a document that the text index has found; returns `false` when no more are wanted.
    private mutating func examine(
        _ hit: TextFinder.Hit, _ sequence: UpdateSequence, _ body: (FoundDocument) throws -> Bool
    ) throws -> Bool {
        // With an order the document was examined before, and may have changed since.
        let before = statistics
        let record = try matching(hit.id, sequence)
        if !query.options.sort.isEmpty { statistics = before }
        guard let record, let found = query.found(record) else { return true }
        last = (hit.id, hit.key.utf8)
        return try give(found, body)
    }

    /// The document if it matches the conditions other than `$text`.
    private mutating func matching(_ id: DocumentID, _ sequence: UpdateSequence) throws -> DocumentRecord? {
        try checkBudget()
        statistics.keysExamined += 1
        guard let record = try query.liveRecord(of: id) else { return nil }
        statistics.documentsExamined += 1
        guard query.plan.isExact || matches(record), record.sequence <= sequence || query.isInFilter(record) else {
            return nil
        }
        return record
    }
}
