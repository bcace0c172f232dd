internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Reads the changes of a database once for all waiting feeds.
///
/// ```
/// commit ──▶ round: read the changes, render them once per kind of feed, wake some feeds
///            round: read later commits, wake the next feeds
///            …      until all have been woken; then the next commit starts a round
/// ```
///
/// The first commit after a pause is read at once. Up to 64 feeds are woken together, longest waiting first. With
/// more feeds the rounds are spaced, so that thousands of feeds neither send at the same moment nor slow down the
/// writers: a change reaches all of them after about half a second, and each feed sends the changes of that time
/// together.
///
/// Rows are kept up to a number of bytes per database. A feed that needs older ones reads the database itself until
/// it has caught up.
final class FeedHub: Sendable {
    struct State {
        /// The position up to which changes were read.
        var position: UpdateSequence = 0
        var groups: [Int: FeedGroup] = [:]
        var kinds: [FeedKind?: Int] = [:]
        var lastNumber = 0
        var phase = Phase.resting
        var page = PageSize()
        /// The earliest time of the next round, in nanoseconds.
        var earliest: UInt64 = 0
        /// The number of rounds, so that each kind of feed gets its turn.
        var turns = 0
        /// Whether a notice of the next commit was requested and has not come yet.
        var awaitsNotice = false

        /// Whether there are feeds.
        var isNeeded: Bool { !groups.isEmpty }

        mutating func next() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// Makes the next commit start a round.
        ///
        /// - Returns: Whether the caller must request a notice from the database.
        mutating func arm() -> Bool {
            phase = .armed
            defer { awaitsNotice = true }
            return !awaitsNotice
        }
    }

    enum Phase {
        /// There are no feeds.
        case resting
        /// The next commit starts a round.
        case armed
        /// A round is running or scheduled.
        case running
        /// The database is closed.
        case closed
    }

    /// A feed's registration.
    struct Place: Sendable {
        fileprivate let number: Int
        fileprivate let group: Int
    }

    weak let database: Database?
    let state = Guarded(State())
    let queue = DispatchQueue(label: "settle.feeds")

    init(_ database: Database) { self.database = database }

    /// The hub of a database.
    static func of(_ database: Database) -> FeedHub {
        database.companion(FeedHub.self) { FeedHub(database) }
    }

    /// Registers a feed.
    ///
    /// - Parameters:
    ///   - kind: Its kind; `nil` for a feed that can't share its rows.
    ///   - row: Renders its rows.
    /// - Returns: Its place, to be passed to ``leave(_:)``.
    /// - Throws: ``DatabaseError`` if the database can't be read.
    func enter(_ kind: FeedKind?, _ row: ChangeRow) throws -> Place {
        let newest = state.withLock(\.isNeeded) ? nil : try database?.lastSequence()
        let (place, arms) = state.withLock { state -> (Place, Bool) in
            // Another feed may have entered, read later changes and left meanwhile.
            if let newest, !state.isNeeded, state.phase != .running { state.position = max(state.position, newest) }
            let group = state.kinds[kind] ?? state.next()
            if state.groups[group] == nil {
                state.kinds[kind] = group
                state.groups[group] = FeedGroup(kind, kind.map { _ in row }, at: state.position)
            }
            state.groups[group]?.members += 1
            return (Place(number: state.next(), group: group), state.phase == .resting && state.arm())
        }
        if arms { askForNotice() }
        return place
    }

    /// Removes a feed. If it was the last one of its kind, and clients can request any number of such kinds, the kind
    /// is removed too. Other kinds are kept for the next requests.
    func leave(_ place: Place) {
        let ended = state.withLock { state -> FeedGroup? in
            state.groups[place.group]?.leave(place.number)
            guard let group = state.groups[place.group], group.members <= 0, group.kind?.isOneOfFew == false else {
                return nil
            }
            state.groups[place.group] = nil
            state.kinds[group.kind] = nil
            return group
        }
        // A large filter is freed without the lock.
        withExtendedLifetime(ended) {}
    }

    /// The rendered rows after a position.
    ///
    /// - Parameters:
    ///   - place: The feed's place.
    ///   - position: The feed's position.
    ///   - limit: The largest number of rows to return.
    ///   - isFirst: Whether the feed has not sent a row yet.
    ///   - hasTurn: Whether the feed was woken to read its rows.
    /// - Returns: The rows, or why it gets none.
    func find(
        _ place: Place, after position: UpdateSequence, limit: Int, isFirst: Bool, hasTurn: Bool
    ) -> FeedGroup.Found {
        state.withLock { state in
            guard state.phase != .closed else { return .missing }
            let newest = state.position
            return state.groups[place.group]?.find(
                after: position, newest: newest, limit: limit, isFirst: isFirst, hasTurn: hasTurn) ?? .missing
        }
    }

    /// Wakes a feed when there are changes after a position and it is the feed's turn.
    ///
    /// - Parameters:
    ///   - place: The feed's place.
    ///   - position: The feed's position.
    ///   - hasTurn: Whether the feed was woken to read its rows.
    ///   - wake: Called once, on any thread, unless the feed leaves first.
    /// - Returns: False if there are already rows or the database is closed; `wake` is then not called.
    func wait(
        _ place: Place, after position: UpdateSequence, hasTurn: Bool, _ wake: @escaping @Sendable () -> Void
    ) -> Bool {
        let (isWaiting, arms, starts) = state.withLock { state -> (Bool, Bool, Bool) in
            if state.phase == .closed { return (false, false, false) }
            let newest = state.position
            switch state.groups[place.group]?.find(
                after: position, newest: newest, limit: 1, isFirst: true, hasTurn: hasTurn)
            {
            case .nothing:
                // The feed's own position may be ahead; the queue is ordered by position.
                state.groups[place.group]?.wait(place.number, at: newest, wake)
                return (true, state.phase == .resting && state.arm(), false)
            case .later:
                state.groups[place.group]?.waitForTurn(place.number, at: position, wake)
                defer { state.phase = .running }
                return (true, false, state.phase != .running)
            case .rows, .missing, nil: return (false, false, false)
            }
        }
        if arms { askForNotice() }
        if starts { schedule() }
        return isWaiting
    }

    /// Whether the database was closed, so that no feed is woken any more.
    var isClosed: Bool { state.withLock { $0.phase == .closed } }

    /// Requests a notice. Must be called without the lock, because the notice may come at once.
    func askForNotice() {
        guard let database else { return }
        _ = database.notify(after: state.withLock { $0.position }) { [weak self] in self?.notice(isOpen: $0) }
    }

    /// Called after a commit, or when the database is closed. A feed may cause this call while it holds its own
    /// lock.
    private func notice(isOpen: Bool) {
        guard isOpen else { return queue.async { [weak self] in self?.close() } }
        let starts = state.withLock { state -> Bool in
            state.awaitsNotice = false
            // A running round requests the next notice at its end.
            guard state.phase == .armed else { return false }
            state.phase = .running
            return true
        }
        if starts { schedule() }
    }

    /// Runs a round as soon as possible; the phase is already `running`.
    func schedule() {
        let delay = state.withLock { state -> UInt64? in
            guard state.phase != .closed else { return nil }
            let now = DispatchTime.now().uptimeNanoseconds
            return state.earliest > now ? state.earliest - now : 0
        }
        guard let delay else { return }
        guard delay > 0 else { return queue.async { [weak self] in self?.round() } }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { [weak self] in self?.round() }
    }

    /// Wakes all feeds for the last time.
    func close() {
        let woken = state.withLock { state in
            state.phase = .closed
            return state.dequeueAll()
        }
        for wake in woken { wake() }
    }
}

extension FeedHub.State {
    /// Removes and returns all waiting feeds.
    mutating func dequeueAll() -> [@Sendable () -> Void] {
        Array(groups.keys).flatMap { groups[$0]?.dequeueAll() ?? [] }
    }
}

// MARK: - Round

/// Rounds: reading committed changes, rendering them, and waking the feeds.
extension FeedHub {
    /// The changes of a round.
    private struct Page {
        let records: [DocumentRecord]
        let after: UpdateSequence
        let through: UpdateSequence
        /// Whether these are the last changes.
        let isLast: Bool
    }

    /// The maximum number of kept bytes of rows per database.
    private static let kept = 8 << 20
    /// The number of feeds that a round wakes.
    static let slice = 64
    /// The pause for each woken feed, in nanoseconds, which leaves processor time to other work. A client of long
    /// polling costs more, because it sends a new request after each answer.
    private static let restForEach: UInt64 = 60_000
    private static let restForEachAsking: UInt64 = 150_000
    /// The intended time for waking all feeds, in nanoseconds.
    private static let longest: UInt64 = 750_000_000
    /// The pause before a round runs again whose database could not be read, in nanoseconds.
    private static let pauseAfterFailure: UInt64 = 1_000_000_000

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
                return Self.dequeueWaiting(&state)
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
        // In a snapshot: changes committed after the page are read with the next one.
        try database.snapshot {
            let newest = try database.lastSequence()
            let records = try database.records(
                changedIn: SequenceRange(after: position), limit: count, withContent: withContent)
            let isLast = records.isLast(of: count)
            // A purge increases the sequence without a change.
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
                // The feeds of this group read the database themselves, or the group was added while the page
                // was read.
                state.groups[group]?.skip(to: page.through)
            }
        }
    }

    /// Removes and returns the wake-ups of the next feeds, and the pause after them.
    private static func dequeueWaiting(_ state: inout State) -> (woken: [@Sendable () -> Void], rest: UInt64) {
        let ready = state.groups.filter(\.value.hasNews).keys.sorted()
        guard !ready.isEmpty else { return ([], 0) }
        let waiting = ready.reduce(0) { $0 + (state.groups[$1]?.waiting ?? 0) }
        let longestEach = longest / UInt64(max(waiting, 1))
        var woken: [@Sendable () -> Void] = []
        var rest: UInt64 = 0
        for turn in 0..<ready.count where woken.count < slice {
            let number = ready[(state.turns + turn) % ready.count]
            let taken = state.groups[number]?.dequeueWaiting(max(slice / ready.count, 1)) ?? []
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

    /// Recovers from a failure: each feed reads the database itself, and reports the error to its client. If the
    /// database can't be read at all for now, the feeds wait, and the round runs again after a pause.
    private func recover(_ database: Database) {
        let newest: UpdateSequence
        do { newest = try database.lastSequence() } catch {
            if database.isClosed || (error as? DatabaseError)?.code == .closed { return close() }
            state.withLock { $0.earliest = DispatchTime.now().uptimeNanoseconds + Self.pauseAfterFailure }
            return schedule()
        }
        let woken = state.withLock { state in
            state.position = max(state.position, newest)
            for group in Array(state.groups.keys) { state.groups[group]?.skip(to: state.position) }
            return state.dequeueAll()
        }
        for wake in woken { wake() }
        finish(DispatchTime.now().uptimeNanoseconds, UInt64(woken.count) * Self.restForEach, isLast: true)
    }
}

extension FeedHub.State {
    /// Removes kinds that have no feed now and had none at the end of the previous round. Clients of long polling
    /// are absent briefly between two requests.
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
