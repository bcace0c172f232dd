internal import SettleCore
internal import SettleDatabase

/// Finds the documents of a query's `$text`, in batches.
///
///     without an order: by relevance, as many as are requested
///     with an order:    all are read, the first of them are kept and returned; for more, all are read again
struct TextFinder {
    /// A document with its sort key.
    struct Hit {
        let id: DocumentID
        /// Its relevance, or the values of its sort order.
        let key: JSONValue
    }

    private let rows: TextRows
    private let expression: String
    /// With an order: the first documents among those examined.
    private var first: FirstDocuments<Hit>?

    private var hits: ArraySlice<Hit> = []
    private var lastRow: TextRow?
    private var lastNumber = Int64.min
    private var pageSize = Self.firstPage
    private var hasAll = false

    /// The number of documents in the first read, and the maximum of later ones: each read ranks all matches.
    private static let firstPage = 200
    private static let largestPage = 50_000

    /// - Parameters:
    ///   - searches: The searches; a document has to match all of them.
    ///   - options: The query.
    ///   - index: The text index.
    ///   - database: The database.
    ///   - largest: With an order, the maximum number of documents kept.
    /// - Throws: ``QueryError`` with code `textSearch` for an invalid search; ``DatabaseError``.
    init(
        _ searches: [String], _ options: FindOptions, in index: TextIndex, of database: Database,
        largest: Int = Self.largestPage
    ) throws {
        do {
            let parts = try searches.map { try TextParser.parse($0, in: index, joinsAll: false) }
            expression = (parts.count > 1 ? .all(parts) : parts[0]).fts5
        } catch let error as DatabaseError where error.code == .invalid {
            throw QueryError(.textSearch, error.message)
        }
        rows = try index.rows(in: database, asStored: !options.isUpdated)
        first = options.sort.isEmpty ? nil : FirstDocuments(options, largest: largest)
        if first == nil, let bookmark = options.bookmark {
            lastRow = TextRow(id: bookmark.id, score: bookmark.key[0]?.number?.double ?? 0)
        }
    }

    /// Whether all documents were returned.
    var isDone: Bool { hits.isEmpty && hasAll }

    /// Removes and returns the next document that was read.
    mutating func pop() -> Hit? { hits.popFirst() }

    // MARK: - Reading

    /// Reads more documents, after all that were read have been returned.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of documents to examine before this returns.
    ///   - key: With an order: returns a document's sort key; `nil` if it does not match.
    /// - Throws: ``DatabaseError``, or errors of the closure.
    mutating func fill(lookingAt limit: Int, _ key: (DocumentID) throws -> JSONValue?) throws {
        guard hits.isEmpty, !hasAll else { return }
        try first == nil ? fillByRelevance() : fillInOrder(limit, key)
    }

    private mutating func fillByRelevance() throws {
        let (expression, last, size) = (expression, lastRow, pageSize)
        let page = try rows.read { try $0.rows(expression, after: last, limit: size) }
        hits = page.map { Hit(id: $0.id, key: [JSONNumber($0.score).map(JSONValue.number) ?? 0]) }[...]
        lastRow = page.last ?? lastRow
        hasAll = page.count < size
        pageSize = min(pageSize * 4, Self.largestPage)
    }

    private mutating func fillInOrder(_ limit: Int, _ key: (DocumentID) throws -> JSONValue?) throws {
        let (expression, last) = (expression, lastNumber)
        let page = try rows.read { try $0.rows(expression, afterNumber: last, limit: limit) }
        for row in page {
            guard let key = try key(row.id) else { continue }
            first?.add(Hit(id: row.id, key: key), key: key, id: row.id)
        }
        lastNumber = page.last?.number ?? lastNumber
        guard page.count < limit, let taken = first?.dequeue() else { return }
        (hits, hasAll) = (taken.documents[...], taken.areAll)
        lastNumber = .min
    }
}
