internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Rounds: reading committed changes, rendering them, and waking the feeds.
extension FeedHub {
    /// The changes of a round.
    private struct Page {
        let records: [DocumentRecord]
        let after: UpdateSequence
        let through: UpdateSequence
        /// Whether there are no changes after these.
        let isLast: Bool
    }

    /// The maximum number of kept bytes of rows per database.
    private static let kept = 8 << 20
    /// The number of feeds that a round wakes.
    static let slice = 64
    /// The pause for each woken feed, in nanoseconds, which leaves the processor to others. Clients of long polling request
    /// again, which costs more than the answer.
    private static let restForEach: UInt64 = 60_000
    private static let restForEachAsking: UInt64 = 150_000
    /// The goal for waking all feeds, however many they are, in nanoseconds.
    private static let longest: UInt64 = 750_000_000

    /// Runs one round, on the hub's queue.
    func round() {
        guard let database else { return }
        let start = DispatchTime.now().uptimeNanoseconds
        let (position, count) = state.withLock { ($0.position, $0.page.count) }
        let needsContent = state.withLock { $0.groups.values.contains { $0.row?.needsContent == true } }
        do {
            let page = try read(database, after: position, count, withContent: needsContent)
            let batches = page.records.isEmpty ? [:] : try render(page, of: database)
            let (woken, rest) = state.withLock { state in
                keep(batches, page, &state)
                return Self.takeWaiting(&state)
            }
            for wake in woken { wake() }
            finish(start, rest, isLast: page.isLast)
        } catch {
            recover(database)
        }
    }

    /// Renders a page once for each kind of feed.
    private func render(_ page: Page, of database: Database) throws -> [Int: FeedBatch] {
        try state.withLock { $0.groups.compactMapValues(\.row) }.mapValues { row in
            try FeedBatch(page.records, after: page.after, through: page.through, by: row, of: database)
        }
    }

    private func read(
        _ database: Database, after position: UpdateSequence, _ count: Int, withContent: Bool
    ) throws -> Page {
        // A snapshot; changes committed after the page are read with the next one.
        try database.snapshot {
            let newest = try database.lastSequence()
            let records = try database.records(
                changedIn: SequenceRange(after: position), limit: count, withContent: withContent)
            let isLast = records.count < count
            // A purge advances the sequence without a change.
            let through = isLast ? max(newest, position) : records.last?.sequence ?? newest
            return Page(records: records, after: position, through: through, isLast: isLast)
        }
    }

    /// Keeps the rendered rows.
    private func keep(_ batches: [Int: FeedBatch], _ page: Page, _ state: inout State) {
        state.position = page.through
        if page.records.isEmpty { return }
        state.page.learn(count: page.records.count, bytes: batches.values.map(\.bytes.count).max() ?? 0)
        let limit = Self.kept / max(state.groups.count, 1)
        for group in Array(state.groups.keys) {
            if let batch = batches[group] {
                state.groups[group]?.add(batch, keeping: limit)
            } else {
                // Its feeds read the database themselves, or it was added while the page was read.
                state.groups[group]?.skip(to: page.through)
            }
        }
    }

    /// The wake-ups of the next feeds, and the pause after them.
    private static func takeWaiting(_ state: inout State) -> (woken: [@Sendable () -> Void], rest: UInt64) {
        let ready = state.groups.filter(\.value.hasNews).keys.sorted()
        guard !ready.isEmpty else { return ([], 0) }
        let waiting = ready.reduce(0) { $0 + (state.groups[$1]?.waiting ?? 0) }
        let longestEach = longest / UInt64(max(waiting, 1))
        var woken: [@Sendable () -> Void] = []
        var rest: UInt64 = 0
        for turn in 0..<ready.count where woken.count < slice {
            let number = ready[(state.turns + turn) % ready.count]
            let taken = state.groups[number]?.takeWaiting(max(slice / ready.count, 1)) ?? []
            let asksAgain = state.groups[number]?.row?.framing.isOneText == true
            rest += UInt64(taken.count) * min(asksAgain ? restForEachAsking : restForEach, longestEach)
            woken += taken
        }
        state.turns = (state.turns + slice) % Int(Int32.max)
        return (woken, rest)
    }

    /// Ends a round, and schedules the next one.
    private func finish(_ start: UInt64, _ rest: UInt64, isLast: Bool) {
        let (isArmed, isDone) = state.withLock { state -> (Bool, Bool) in
            state.earliest = start + rest
            let isDone = isLast && !state.groups.values.contains { $0.hasNews }
            guard isDone, state.phase != .closed else { return (false, isDone) }
            state.dropAbandoned()
            guard state.isNeeded else {
                state.phase = .resting
                return (false, true)
            }
            return (state.arm(), true)
        }
        if isArmed { askForNotice() } else if !isDone { schedule() }
    }

    /// After a failure each feed reads the database itself, and reports the error to its client.
    private func recover(_ database: Database) {
        guard let newest = try? database.lastSequence() else { return close() }
        let woken = state.withLock { state in
            state.position = max(state.position, newest)
            for group in Array(state.groups.keys) { state.groups[group]?.skip(to: state.position) }
            return state.takeAllWaiting()
        }
        for wake in woken { wake() }
        finish(DispatchTime.now().uptimeNanoseconds, UInt64(woken.count) * Self.restForEach, isLast: true)
    }
}

extension FeedHub.State {
    /// Drops kinds that had no feed at the end of the previous round, and have none now. Clients of long polling are absent
    /// briefly between two requests.
    fileprivate mutating func dropAbandoned() {
        for (number, group) in groups where group.members <= 0 {
            if group.isAbandoned {
                groups[number] = nil
                kinds[group.kind] = nil
            } else {
                groups[number]?.isAbandoned = true
            }
        }
        for (number, group) in groups where group.members > 0 && group.isAbandoned {
            groups[number]?.isAbandoned = false
        }
    }
}
