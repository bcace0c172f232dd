import SettleCore
internal import SettlePlatform
package import SettleQuery

/// The parameters of a query without a model: CouchDB's `_find` as a value.
package struct FindOptions: Sendable {
    /// The selector of the documents.
    package var selector: MangoSelector
    /// The order of the results, which requires an index unless ``sortLimit`` is set.
    package var sort: [SortField] = []
    /// The maximum number of documents that may be sorted in memory if no index has the order; `nil` for none, as
    /// in CouchDB.
    package var sortLimit: Int?
    /// The maximum number of documents.
    package var limit = 25
    /// The number of documents to skip, on every page.
    package var skip = 0
    /// The members to return; whole documents if empty.
    package var fields: [String] = []
    /// The bookmark of an earlier result to continue from.
    package var bookmark: FindBookmark?
    /// The index to use: a design document's name, with or without `_design/`, optionally followed by the index's
    /// name.
    package var useIndex: [String] = []
    /// Whether another index may be used if that one does not fit.
    package var allowsFallback = true
    /// Whether returned documents include their conflicts.
    package var hasConflicts = false
    /// Whether the index is updated first.
    package var isUpdated = true
    /// Whether the warnings include those that CouchDB does not have.
    package var givesHints = false
    /// Whether documents count as read from several copies, as in CouchDB when `r` is more than one.
    package var isQuorum = false

    /// The limits of the query's work.
    package var budget = QueryBudget.unlimited

    /// Makes options for the documents that a selector matches.
    package init(_ selector: MangoSelector) { self.selector = selector }

    /// Whether an index is one of the requested ones.
    func names(_ index: QueryIndex) -> Bool {
        guard let first = useIndex.first, let document = index.designDocument?.string else { return false }
        let id = first.hasPrefix("_design/") ? first : "_design/" + first
        guard document.utf8.elementsEqual(id.utf8) else { return false }
        return useIndex.count < 2 || index.name.utf8.elementsEqual(useIndex[1].utf8)
    }

    /// The requested index, in the format of CouchDB's messages.
    var indexName: String? {
        guard let first = useIndex.first else { return nil }
        let document = first.hasPrefix("_design/") ? first : "_design/" + first
        return useIndex.count < 2 ? document : "\(document), \(useIndex[1])"
    }
}

/// A position in the results of a query: after the row of one document.
///
/// It stores the row's position, not the number of rows before it. So insertions and deletions elsewhere don't affect
/// it, and the row itself may be deleted.
package struct FindBookmark: Hashable, Sendable {
    /// The document.
    let id: DocumentID
    /// The row's key: its values in an index, or its id in the list of all documents.
    let key: JSONValue

    /// CouchDB's bookmark of an empty result, which can't be used as a start.
    package static let none = "nil"

    /// The bookmark as text, in CouchDB's format.
    package var text: String { BookmarkText.encode(id: id.string, key: key) }

    init(id: DocumentID, key: JSONValue) {
        self.id = id
        self.key = key
    }

    /// Parses a bookmark.
    ///
    /// - Throws: ``QueryError`` with code `invalidBookmark`.
    package init(_ text: String) throws {
        guard let place = BookmarkText.decode(text) else {
            throw QueryError(.invalidBookmark, "Invalid bookmark value: \(JSONValue.string(text))")
        }
        self.init(id: DocumentID(unchecked: place.id), key: place.key)
    }
}

// MARK: - QueryBudget

/// The limits of one query's work, from its first document to its last: steps of its selector, and processor time.
///
/// Wall-clock time doesn't count, so a busy machine ends no query that an idle one would answer.
package final class QueryBudget: Sendable {
    /// The budget of a program's queries on its own database.
    package static let unlimited = QueryBudget(steps: .max, seconds: .infinity)

    /// The steps that are left.
    let work: SelectorWork
    private let limit: Double
    private let isWanted: @Sendable () -> Bool
    private let spent = Guarded(0.0)

    /// - Parameters:
    ///   - steps: The steps of the selector, see ``SelectorWork``.
    ///   - seconds: The processor time in seconds.
    ///   - isWanted: Returns whether a client still waits for the result.
    package init(steps: Int, seconds: Double, isWanted: @escaping @Sendable () -> Bool = { true }) {
        work = SelectorWork(steps, isWanted: isWanted)
        limit = seconds
        self.isWanted = isWanted
    }

    /// Begins a part of the query on this thread. Pass the result to ``end(_:)``.
    func begin() -> Double { limit.isFinite ? Self.threadSeconds : 0 }

    /// Ends the part.
    func end(_ start: Double) {
        guard limit.isFinite else { return }
        let seconds = Self.threadSeconds - start
        spent.withLock { $0 += seconds }
    }

    /// Checks the steps, and whether the result is wanted; cheap enough for each document.
    ///
    /// - Throws: ``QueryError`` with code `tooExpensive`; `CancellationError` if no client waits for the result.
    func check() throws {
        guard isWanted() else { throw CancellationError() }
        if work.isSpent { throw Self.tooExpensive }
    }

    /// Checks all limits, during a part that has begun.
    ///
    /// - Throws: As ``check()`` does.
    func check(_ start: Double) throws {
        try check()
        guard limit.isFinite else { return }
        if spent.withLock({ $0 }) + Self.threadSeconds - start > limit { throw Self.tooExpensive }
    }

    private static var tooExpensive: QueryError {
        QueryError(
            .tooExpensive,
            "The query takes more work than one query may. An index, fewer documents or a simpler pattern helps.")
    }

    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
