internal import SettleCore
internal import SettleDatabase
internal import SettleQuery

/// Sorts the documents of a query in memory, if no index has their order.
///
///     every match ─add─→ the first of them by their values, then by their ids ─pop─→ the result
///
/// As in an index, a document without one of the members is not found. The memory is that of the requested
/// documents, and at most of the limit.
struct DocumentSorter: Sendable {
    /// A document and its sort key.
    struct Sorted: Sendable {
        let found: FoundDocument
        let key: JSONValue
    }

    private let limit: Int
    /// Whether the query asks for more documents than may be sorted.
    private let isOpen: Bool
    private let fields: [String]
    private let paths: [SelectorPath]
    private let members: NeededMembers
    private var first: FirstDocuments<Sorted>
    private var sorted: ArraySlice<Sorted> = []

    /// Whether all matches were added.
    private(set) var isFilled = false

    /// - Parameters:
    ///   - options: The query, with an order.
    ///   - limit: The maximum number of documents to sort.
    init(_ options: FindOptions, limit: Int) {
        self.limit = max(limit, 1)
        let most = options.limit.addingReportingOverflow(options.skip)
        isOpen = most.overflow || most.partialValue > self.limit
        fields = options.sort.map(\.path)
        paths = fields.map { SelectorPath($0) }
        members = NeededMembers(fields)
        first = FirstDocuments(options, largest: self.limit)
    }

    /// Whether all documents were returned.
    var isDone: Bool { isFilled && sorted.isEmpty }

    /// Adds a document that matches.
    ///
    /// - Throws: ``QueryError`` with code `noUsableIndex` if there are more of them than may be sorted.
    mutating func add(_ found: FoundDocument, of record: DocumentRecord) throws {
        guard let json = members.json(of: record, hasConflicts: false) else { return }
        var values: [JSONValue] = []
        for path in paths {
            guard case .value(let value) = path.destination(in: json) else { return }
            values.append(value)
        }
        let key = JSONValue.array(values)
        first.add(Sorted(found: found, key: key), key: key, id: found.id)
        guard isOpen, first.count > limit else { return }
        throw QueryError(
            .noUsableIndex,
            """
            More than \(limit) documents match, too many to sort without an index. Create one with \
            createIndex(on: \(Self.listed(fields))), or ask for fewer documents with prefix(_:).
            """)
    }

    /// Sorts the documents.
    mutating func fill() {
        sorted = first.dequeue().documents[...]
        isFilled = true
    }

    /// Removes and returns the next document.
    mutating func pop() -> Sorted? { sorted.popFirst() }

    /// The warning for a query whose documents are sorted in memory.
    static func warning(_ sort: [SortField]) -> String {
        """
        No index has this order, so the documents that match are sorted in memory; create one with \
        createIndex(on: \(listed(sort.map(\.path)))).
        """
    }

    private static func listed(_ fields: [String]) -> String {
        fields.map { JSONValue.string($0).description }.joined(separator: ", ")
    }
}

// MARK: - FirstDocuments

/// Collects documents and returns the first ones in the query's order. It keeps little more than the wanted number
/// in memory.
///
///     add    kept: [ … ]        beyond 2 × wanted + 1000 the kept ones are sorted, and the first `wanted` stay
///     take   the first `wanted`, sorted; what is added later is kept if it comes after them
struct FirstDocuments<Found: Sendable>: Sendable {
    private let isDescending: Bool
    /// The maximum number of documents per batch.
    private let wanted: Int
    /// The position to continue after.
    private var start: [UInt8]?
    /// Documents that may be among the first, with the bytes of their sort positions.
    private var kept: [(place: [UInt8], document: Found)] = []

    /// - Parameters:
    ///   - options: The query, with an order.
    ///   - largest: The maximum number of documents per batch.
    init(_ options: FindOptions, largest: Int) {
        isDescending = options.sort.first?.isDescending ?? false
        let most = options.limit.addingReportingOverflow(options.skip)
        wanted = most.overflow ? largest : max(min(most.partialValue, largest), 1)
        start = options.bookmark.map { Self.place($0.key, $0.id) }
    }

    /// The current number of kept documents.
    var count: Int { kept.count }

    /// Adds a document, unless it comes before the start.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - key: The values it is sorted by.
    ///   - id: Its id, which decides between equal values.
    mutating func add(_ document: Found, key: JSONValue, id: DocumentID) {
        let place = Self.place(key, id)
        if let start, !Self.isBefore(start, place, isDescending) { return }
        kept.append((place, document))
        if kept.count / 2 - 500 > wanted { sort() }
    }

    /// Removes and returns the first documents, and whether these are all that were added.
    mutating func dequeue() -> (documents: [Found], areAll: Bool) {
        sort()
        let taken = kept
        kept = []
        start = taken.last?.place ?? start
        return (taken.map(\.document), taken.count < wanted)
    }

    private mutating func sort() {
        let isDescending = isDescending
        kept.sort { Self.isBefore($0.place, $1.place, isDescending) }
        if kept.count > wanted { kept.removeLast(kept.count - wanted) }
    }

    private static func place(_ key: JSONValue, _ id: DocumentID) -> [UInt8] {
        RowPosition.make(key: SortKey.of(key), id: id, number: 0)
    }

    private static func isBefore(_ left: [UInt8], _ right: [UInt8], _ isDescending: Bool) -> Bool {
        isDescending ? RowPosition.isBefore(right, left) : RowPosition.isBefore(left, right)
    }
}
