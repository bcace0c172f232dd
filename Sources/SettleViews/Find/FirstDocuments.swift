internal import SettleCore
internal import SettleDatabase

/// The first documents in a query's order among those added, in memory for about as many as are wanted.
///
///     add    kept: [ … ]        beyond 2 × wanted + 1000 the kept ones are sorted, and the first `wanted` stay
///     take   the first `wanted`, sorted; what is added later is kept if it comes after them
struct FirstDocuments<Found: Sendable>: Sendable {
    private let isDescending: Bool
    /// The maximum number of documents per batch.
    private let wanted: Int
    /// The position to continue after.
    private var start: [UInt8]?
    /// Documents that may be among the first, with the bytes of their positions.
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

    /// How many documents are kept now.
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

    /// Removes and returns the first documents, and whether no others were added.
    mutating func take() -> (documents: [Found], areAll: Bool) {
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
