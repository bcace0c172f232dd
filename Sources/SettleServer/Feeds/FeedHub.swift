internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Reads the changes of a database once for all feeds that wait for them.
///
/// ```
/// commit ──▶ round: read the changes, render them once for each kind of feed, wake some feeds
///            round: read what was committed since, wake the next feeds
///            …      until all have been woken; then the next commit begins a round
/// ```
///
/// The first commit after a silence is read at once. Up to 64 feeds are woken at once, those that have waited longest first. With
/// more of them, the rounds keep a distance, so that thousands of feeds neither come all at the same moment nor keep the machine
/// from the writers: a change is at all of them after about half a second, and a feed sends what came meanwhile in one piece.
///
/// Rows are kept for a while, up to a number of bytes for the whole database. A feed that needs older ones reads for itself
/// until it has caught up.
final class FeedHub: Sendable {
    struct State {
        /// Up to where changes were read.
        var position: UpdateSequence = 0
        var groups: [Int: FeedGroup] = [:]
        var kinds: [FeedKind?: Int] = [:]
        var lastNumber = 0
        var phase = Phase.resting
        var page = PageSize()
        /// When the next round may begin, in nanoseconds.
        var earliest: UInt64 = 0
        /// How many kinds of feeds had their turn, so that each has it.
        var turns = 0
        /// Whether the database was asked for a notice of the next commit, which has not come yet.
        var awaitsNotice = false

        /// Whether somebody wants to know of changes.
        var isNeeded: Bool { !groups.isEmpty }

        mutating func next() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// Has the next commit begin a round.
        ///
        /// - Returns: Whether the database has to be asked for a notice of it.
        mutating func arm() -> Bool {
            phase = .armed
            defer { awaitsNotice = true }
            return !awaitsNotice
        }
    }

    enum Phase {
        /// Nobody wants to know of changes.
        case resting
        /// The next commit begins a round.
        case armed
        /// A round runs, or will.
        case running
        /// The database is closed.
        case closed
    }

    /// A feed's place among the others.
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

    /// Takes a feed in.
    ///
    /// - Parameters:
    ///   - kind: Its kind; `nil` for one that shares its rows with no other.
    ///   - row: What renders its rows.
    /// - Returns: Its place, to be given back by ``leave(_:)``.
    /// - Throws: ``DatabaseError`` when the database can't be read.
    func enter(_ kind: FeedKind?, _ row: ChangeRow) throws -> Place {
        let newest = state.withLock(\.isNeeded) ? nil : try database?.lastSequence()
        let (place, arms) = state.withLock { state -> (Place, Bool) in
            if let newest, !state.isNeeded, state.phase != .running { state.position = newest }
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

    /// Lets a feed go.
    func leave(_ place: Place) {
        state.withLock { $0.groups[place.group]?.leave(place.number) }
    }

    /// What was rendered of the changes after a position.
    ///
    /// - Parameters:
    ///   - place: The feed's place.
    ///   - position: What it has shown.
    ///   - limit: The largest number of rows that it may show.
    ///   - isFirst: Whether it has shown no row yet.
    ///   - hasTurn: Whether it was woken to show what there is.
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

    /// Has a feed woken once there is something after a position, and it is the feed's turn.
    ///
    /// - Parameters:
    ///   - place: The feed's place.
    ///   - position: What it has read.
    ///   - hasTurn: Whether it was woken to show what there is.
    ///   - wake: Is called once, on any thread, unless the feed leaves before.
    /// - Returns: False when it may show something already, or the database is closed: then `wake` is not called.
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
                // Not its own position, which may be ahead: those who wait stand in the order of their positions.
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

    /// Not under the lock, for the notice may come at once.
    func askForNotice() {
        guard let database else { return }
        _ = database.notify(after: state.withLock { $0.position }) { [weak self] in self?.notice(isOpen: $0) }
    }

    /// Something was committed, or the database is closed. It may be called by a feed that asks, whose lock is held then.
    private func notice(isOpen: Bool) {
        guard isOpen else { return queue.async { [weak self] in self?.close() } }
        let starts = state.withLock { state -> Bool in
            state.awaitsNotice = false
            // A round that runs asks for the next notice when it is done.
            guard state.phase == .armed else { return false }
            state.phase = .running
            return true
        }
        if starts { schedule() }
    }

    /// Has a round run as soon as one may; the phase says already that it does.
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

    /// Wakes all feeds, for the last time.
    func close() {
        let woken = state.withLock { state in
            state.phase = .closed
            return state.takeAllWaiting()
        }
        for wake in woken { wake() }
    }
}

extension FeedHub.State {
    /// All feeds that wait, which do not any more.
    mutating func takeAllWaiting() -> [@Sendable () -> Void] {
        Array(groups.keys).flatMap { groups[$0]?.takeAllWaiting() ?? [] }
    }
}
