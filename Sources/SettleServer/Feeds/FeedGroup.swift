internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleQuery

/// The open feeds of one kind on a database, and their recently rendered rows.
struct FeedGroup: Sendable {
    /// The result of a search for rows.
    enum Found: Sendable {
        /// The rows, their number, and the position after them.
        case rows([UInt8], count: Int, through: UpdateSequence)
        /// No change up to the position has a row.
        case nothing(through: UpdateSequence)
        /// There are rows, but other feeds have waited longer.
        case later
        /// The rows are no longer kept.
        case missing
    }

    /// A waiting feed.
    private struct Waiter: Sendable {
        let number: Int
        let position: UpdateSequence
        /// Lower for a feed that has waited longer.
        let ticket: Int
    }

    /// The kind of its feeds; `nil` for feeds that read the database themselves.
    let kind: FeedKind?
    /// Renders its rows.
    let row: ChangeRow?
    /// The number of feeds that are open.
    var members = 0
    /// Whether no feed was open at the end of the previous round.
    var isAbandoned = false
    private var rows: FeedRows
    /// The feeds that wait for a change, ordered by position.
    private var queue = Queue<Waiter>()
    /// The feeds that have unread rows and wait for their turn.
    private var late = Queue<Waiter>()
    private var tickets = 0
    private var wakes: [Int: @Sendable () -> Void] = [:]

    init(_ kind: FeedKind?, _ row: ChangeRow?, at position: UpdateSequence) {
        self.kind = kind
        self.row = row
        rows = FeedRows(at: position)
    }

    /// The number of feeds that wait.
    var waiting: Int { wakes.count }

    /// The number of places in the queues, those of feeds that have left included.
    var places: Int { queue.count + late.count }

    /// Whether a waiting feed has unread rows.
    var hasNews: Bool { !late.isEmpty || hasNewsForFirst }

    private var hasNewsForFirst: Bool { queue.first.map { $0.position < rows.lastRow } ?? false }

    /// Whether feeds take turns. A client of long polling sends its next request right after an answer. Without
    /// turns, thousands of them would do so continuously while a client writes, and slow down the writer.
    private var takesTurns: Bool { members > FeedHub.slice && row?.framing.isOneText == true }

    /// Keeps a batch that follows the last one, up to `limit` bytes for all batches.
    mutating func add(_ batch: FeedBatch, keeping limit: Int) { rows.add(batch, keeping: limit) }

    /// Continues at a position after changes that were not rendered; each feed reads those changes itself.
    mutating func skip(to position: UpdateSequence) { rows = FeedRows(at: position, hasNews: true) }

    /// The rows after a position.
    ///
    /// - Parameters:
    ///   - position: The position of the feed.
    ///   - newest: The position of all groups.
    ///   - limit: The largest number of rows to return.
    ///   - isFirst: Whether the feed has not sent a row yet.
    ///   - hasTurn: Whether the feed was woken to read its rows.
    /// - Returns: Its rows, or why it gets none.
    mutating func find(
        after position: UpdateSequence, newest: UpdateSequence, limit: Int, isFirst: Bool, hasTurn: Bool = true
    ) -> Found {
        if position >= newest { return .nothing(through: position) }
        guard row != nil else { return .missing }
        if !hasTurn, takesTurns, position < rows.lastRow { return .later }
        return rows.find(after: position, newest: newest, limit: limit, isFirst: isFirst)
    }

    /// Registers a feed that waits for a change.
    mutating func wait(_ number: Int, at position: UpdateSequence, _ wake: @escaping @Sendable () -> Void) {
        queue.append(waiter(number, position, wake))
    }

    /// Registers a feed that waits for its turn.
    mutating func waitForTurn(
        _ number: Int, at position: UpdateSequence, _ wake: @escaping @Sendable () -> Void
    ) {
        late.append(waiter(number, position, wake))
    }

    private mutating func waiter(
        _ number: Int, _ position: UpdateSequence, _ wake: @escaping @Sendable () -> Void
    ) -> Waiter {
        wakes[number] = wake
        tickets += 1
        return Waiter(number: number, position: position, ticket: tickets)
    }

    /// Removes a feed.
    mutating func leave(_ number: Int) {
        members -= 1
        wakes[number] = nil
        // Without changes nothing else passes the places of feeds that have left.
        if places > 2 * waiting + Self.fewPlaces { (queue, late) = (current(queue), current(late)) }
    }

    /// The places of feeds that have not left.
    private func current(_ queue: Queue<Waiter>) -> Queue<Waiter> {
        var (rest, current) = (queue, Queue<Waiter>())
        while let waiter = rest.popFirst() {
            if wakes[waiter.number] != nil { current.append(waiter) }
        }
        return current
    }

    /// The number of places of feeds that have left that is always allowed.
    private static let fewPlaces = 64

    /// Removes and returns the wake-ups of feeds with unread rows, longest waiting first.
    mutating func dequeueWaiting(_ count: Int) -> [@Sendable () -> Void] {
        var taken: [@Sendable () -> Void] = []
        while taken.count < count, let waiter = popReady() {
            // A feed that has left has no wake-up any longer.
            if let wake = wakes.removeValue(forKey: waiter.number) { taken.append(wake) }
        }
        return taken
    }

    private mutating func popReady() -> Waiter? {
        guard hasNewsForFirst, let first = queue.first else { return late.popFirst() }
        if let other = late.first, other.ticket < first.ticket { return late.popFirst() }
        return queue.popFirst()
    }

    /// Removes and returns the wake-ups of all feeds.
    mutating func dequeueAll() -> [@Sendable () -> Void] {
        defer { (wakes, queue, late) = ([:], Queue(), Queue()) }
        return Array(wakes.values)
    }
}

// MARK: - FeedKind

/// Everything that determines the rows of a feed: feeds of one kind send the same bytes for the same changes.
///
/// All rows of a database need the same read access, so access is not part of the kind. A filter function sees the
/// request, so feeds with a filter function share no kind. Rows with attachments are too large to be kept.
struct FeedKind: Hashable, Sendable {
    private enum Filter: Hashable {
        case all
        case ids(Set<DocumentID>)
        case design
        case selector(MangoSelector, [ExactText]?)
    }

    private let feed: ChangesQuery.Feed
    private let subject: ChangesQuery.Subject
    private let hasAllLeaves: Bool
    private let hasDocuments: Bool
    private let hasConflicts: Bool
    private let hasEncodingInfo: Bool
    private let keepsNumbers: Bool
    private let filter: Filter

    /// The kind of a waiting feed.
    ///
    /// - Returns: `nil` for a feed that can't share its rows.
    init?(_ query: ChangesQuery, _ filter: ChangesFilter) {
        guard query.feed != .normal, !query.isDescending, !query.documents.hasAttachments else { return nil }
        switch filter {
        case .all: self.filter = .all
        case .ids(let ids): self.filter = .ids(ids)
        case .design: self.filter = .design
        case .selector(let selector, let projection):
            self.filter = .selector(selector, projection?.fields.map(ExactText.init))
        case .script: return nil
        }
        feed = query.feed
        subject = query.subject
        hasAllLeaves = query.hasAllLeaves
        hasDocuments = query.hasDocuments
        hasConflicts = query.documents.hasConflicts
        hasEncodingInfo = query.documents.hasEncodingInfo
        keepsNumbers = query.documents.keepsNumbers
    }

    /// Whether only a few kinds of this form exist, because its filter has no content from a request.
    var isOneOfFew: Bool {
        switch filter {
        case .all, .design: true
        case .ids, .selector: false
        }
    }
}
