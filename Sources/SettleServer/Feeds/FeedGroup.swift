internal import SettleDatabase
internal import SettlePlatform

/// The feeds of one kind that are open on a database, and the rows that were rendered for them lately.
struct FeedGroup: Sendable {
    /// What a feed finds here.
    enum Found: Sendable {
        /// Rows, how many they are, and the position after them.
        case rows([UInt8], count: Int, through: UpdateSequence)
        /// Nothing is to be shown up to a position.
        case nothing(through: UpdateSequence)
        /// There are rows, but others have waited longer for theirs.
        case later
        /// What it needs is not kept.
        case missing
    }

    /// A feed that waits.
    private struct Waiter: Sendable {
        let number: Int
        let position: UpdateSequence
        /// Lower for one that has waited longer.
        let ticket: Int
    }

    /// What its feeds want; `nil` for those that read for themselves.
    let kind: FeedKind?
    /// What renders its rows.
    let row: ChangeRow?
    /// How many feeds are open.
    var members = 0
    /// Whether no feed was open at the end of the last round.
    var isAbandoned = false
    private var rows: FeedRows
    /// The feeds that wait for a change, in the order of their positions.
    private var queue = Queue<Waiter>()
    /// The feeds that have something to show and wait for their turn.
    private var late = Queue<Waiter>()
    private var tickets = 0
    private var wakes: [Int: @Sendable () -> Void] = [:]

    init(_ kind: FeedKind?, _ row: ChangeRow?, at position: UpdateSequence) {
        self.kind = kind
        self.row = row
        rows = FeedRows(at: position)
    }

    /// How many feeds wait.
    var waiting: Int { wakes.count }

    /// Whether one of the feeds that wait has something to show.
    var hasNews: Bool { !late.isEmpty || hasNewsForFirst }

    private var hasNewsForFirst: Bool { queue.first.map { $0.position < rows.lastRow } ?? false }

    /// Whether feeds take turns. Each client of long polling asks again after each answer; thousands that were answered at once
    /// while somebody writes would ask without a pause, and leave nothing of the machine to the writer.
    private var takesTurns: Bool { members > FeedHub.slice && row?.framing.isOneText == true }

    /// Keeps a batch that follows the last one, up to a number of bytes for all that are kept.
    mutating func add(_ batch: FeedBatch, keeping limit: Int) { rows.add(batch, keeping: limit) }

    /// Goes on at a position, after changes were read that were not rendered: each feed has to read for itself.
    mutating func skip(to position: UpdateSequence) { rows = FeedRows(at: position, hasNews: true) }

    /// What follows a position.
    ///
    /// - Parameters:
    ///   - position: What the feed has shown.
    ///   - newest: What all groups have come to.
    ///   - limit: The largest number of rows that the feed may show.
    ///   - isFirst: Whether the feed has shown no row yet.
    ///   - hasTurn: Whether the feed was woken to show what there is.
    /// - Returns: Its rows, or why it gets none.
    mutating func find(
        after position: UpdateSequence, newest: UpdateSequence, limit: Int, isFirst: Bool, hasTurn: Bool = true
    ) -> Found {
        if position >= newest { return .nothing(through: position) }
        guard row != nil else { return .missing }
        if !hasTurn, takesTurns, position < rows.lastRow { return .later }
        return rows.find(after: position, newest: newest, limit: limit, isFirst: isFirst)
    }

    /// Has a feed wait for a change.
    mutating func wait(_ number: Int, at position: UpdateSequence, _ wake: @escaping @Sendable () -> Void) {
        queue.append(waiter(number, position, wake))
    }

    /// Has a feed wait for its turn.
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

    /// Lets a feed go.
    mutating func leave(_ number: Int) {
        members -= 1
        wakes[number] = nil
    }

    /// What wakes feeds that have something to show, those that have waited longest first.
    mutating func takeWaiting(_ count: Int) -> [@Sendable () -> Void] {
        var taken: [@Sendable () -> Void] = []
        while taken.count < count, let waiter = popReady() {
            // One that has left has nothing to be woken by.
            if let wake = wakes.removeValue(forKey: waiter.number) { taken.append(wake) }
        }
        return taken
    }

    private mutating func popReady() -> Waiter? {
        guard hasNewsForFirst, let first = queue.first else { return late.popFirst() }
        if let other = late.first, other.ticket < first.ticket { return late.popFirst() }
        return queue.popFirst()
    }

    /// What wakes all feeds.
    mutating func takeAllWaiting() -> [@Sendable () -> Void] {
        defer { (wakes, queue, late) = ([:], Queue(), Queue()) }
        return Array(wakes.values)
    }
}
