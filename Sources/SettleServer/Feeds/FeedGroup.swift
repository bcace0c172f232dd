internal import SettleDatabase

/// The feeds of one kind that are open on a database, and the rows that were rendered for them lately.
struct FeedGroup: Sendable {
    /// What a feed finds here.
    enum Found: Sendable {
        /// Rows, how many they are, and the position after them.
        case rows([UInt8], count: Int, through: UpdateSequence)
        /// Nothing is to be shown up to a position.
        case nothing(through: UpdateSequence)
        /// What it needs is not kept.
        case missing
    }

    /// A feed that waits.
    private struct Waiter: Sendable {
        let number: Int
        let position: UpdateSequence
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
    /// The feeds that wait, from `head` on; the one that has waited longest comes first.
    private var queue: [Waiter] = []
    private var head = 0
    private var wakes: [Int: @Sendable () -> Void] = [:]

    init(_ kind: FeedKind?, _ row: ChangeRow?, at position: UpdateSequence) {
        self.kind = kind
        self.row = row
        rows = FeedRows(at: position)
    }

    /// How many feeds wait.
    var waiting: Int { wakes.count }

    /// Whether a feed that has waited longest has something to show.
    var hasNews: Bool { head < queue.count && queue[head].position < rows.lastRow }

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
    /// - Returns: Its rows, or why there are none.
    mutating func find(
        after position: UpdateSequence, newest: UpdateSequence, limit: Int, isFirst: Bool
    ) -> Found {
        if position >= newest { return .nothing(through: position) }
        guard row != nil else { return .missing }
        return rows.find(after: position, newest: newest, limit: limit, isFirst: isFirst)
    }

    /// Has a feed wait.
    mutating func wait(_ number: Int, at position: UpdateSequence, _ wake: @escaping @Sendable () -> Void) {
        wakes[number] = wake
        queue.append(Waiter(number: number, position: position))
    }

    /// Lets a feed go.
    mutating func leave(_ number: Int) {
        members -= 1
        wakes[number] = nil
    }

    /// What wakes feeds that have something to show, those that have waited longest first.
    mutating func takeWaiting(_ count: Int) -> [@Sendable () -> Void] {
        var taken: [@Sendable () -> Void] = []
        while taken.count < count, hasNews {
            // One that has left has nothing to be woken by.
            if let wake = wakes.removeValue(forKey: queue[head].number) { taken.append(wake) }
            head += 1
        }
        if head > 64, head > queue.count / 2 {
            queue.removeFirst(head)
            head = 0
        }
        return taken
    }

    /// What wakes all feeds.
    mutating func takeAllWaiting() -> [@Sendable () -> Void] {
        defer { (wakes, queue, head) = ([:], [], 0) }
        return Array(wakes.values)
    }
}
