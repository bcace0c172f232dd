internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleScripting

/// Sends the changes of a database, in any kind of feed.
///
/// A feed with nothing to send holds no thread: it waits in the database's ``FeedHub``, which wakes it for changes,
/// or for a timer that wakes it for the next heartbeat or the end.
final class ChangesStream: ResponseStream {
    struct State {
        var position: UpdateSequence
        /// The last sequence to include; for descending feeds the lowest that was shown.
        var through = UpdateSequence(.max)
        var left: Int
        var page = PageSize()
        var hasBegun = false
        var rows = 0
        var isDone = false
        var hasEnded = false
        /// The time of the last output or arrived change, in nanoseconds.
        var lastSign: UInt64 = 0
        var isTimerSet = false
        /// Whether the feed is registered with the hub for a wake-up.
        var isWaiting = false
        /// Whether the hub has woken the feed, which then need not wait for its turn again.
        var hasTurn = false
        /// Whether the feed reads the database itself again before it ends.
        var looksItself = false
        var hasLookedItself = false
        var place: FeedHub.Place?
        var wake: (@Sendable () -> Void)?
        /// Whether the metrics count it as open.
        var isCounted = false
        /// Removes the feed from the server's access watch when it ends.
        var unwatch: (@Sendable () -> Void)?
        var outbox = TextOutbox()
        /// The page that a filter function is running for, if any.
        var asked: Asked?
    }

    /// The progress of reading.
    enum Progress {
        /// There may be more changes.
        case page
        /// There may be more changes, but other feeds need the thread.
        case pause
        /// There are no more changes for now.
        case end
    }

    /// A page of changes, and the result of the filter function.
    struct Asked {
        let page: [DocumentRecord]
        let newest: UpdateSequence
        /// The arguments of the remaining calls.
        var question: [[(leaf: RevisionNode, json: [UInt8])]]?
        var answer: Result<ScriptFilter.Chosen, ScriptError>?
    }

    let database: Database
    let query: ChangesQuery
    let row: ChangeRow
    let hub: FeedHub
    let state: Guarded<State>
    let heartbeat: UInt64?
    let timeout: UInt64
    let kind: FeedKind?

    /// - Throws: ``HTTPError`` with status 400 for an invalid position; ``DatabaseError``.
    init(database: Database, query: ChangesQuery, filter: ChangesFilter, metrics: Metrics) throws {
        self.database = database
        self.query = query
        let sequences = try WireSequence(database)
        row = ChangeRow(query: query, filter: filter, sequences: sequences, metrics: metrics)
        kind = FeedKind(query, filter)
        hub = FeedHub.of(database)
        let since = try sequences.parse(query.since, in: database)
        state = Guarded(
            State(
                position: query.isDescending ? 0 : since, left: query.limit ?? .max,
                page: PageSize(hasContents: row.needsContent), isDone: query.limit == 0))
        heartbeat = query.heartbeat.map { UInt64($0) * 1_000_000 }
        timeout = UInt64(min(query.timeout ?? ChangesQuery.defaultTimeout, ChangesQuery.defaultTimeout)) * 1_000_000
    }

    func begin(wake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.wake = wake
            state.lastSign = Self.now
            state.isCounted = true
        }
        row.metrics.openedFeed()
    }

    func next() throws -> ResponseStep {
        let (step, question) = try state.withLock { state in
            let step = try self.step(&state)
            defer { state.asked?.question = nil }
            return (step, state.asked?.question)
        }
        if let question { row.filter.script?.ask(question) { [weak self] in self?.answer($0) } }
        return step
    }

    // If the client disconnects before its answer begins, nothing else ends the stream.
    deinit { state.withLock(\.unwatch)?() }

    /// Ends the feed soon after its user loses access.
    func watch(by watch: AccessWatch, _ grant: AccessWatch.Grant) {
        let number = watch.add(grant) { [weak self] _ in self?.revoke() }
        state.withLock { $0.unwatch = { watch.remove(number) } }
    }

    private func revoke() {
        let wake = state.withLock { state in
            state.isDone = true
            return state.wake
        }
        wake?()
    }

    func end() {
        let (place, isCounted, unwatch) = state.withLock { state in
            state.hasEnded = true
            state.wake = nil
            defer { (state.place, state.isCounted, state.unwatch) = (nil, false, nil) }
            return (state.place, state.isCounted, state.unwatch)
        }
        unwatch?()
        if isCounted { row.metrics.closedFeed() }
        if let place { hub.leave(place) }
    }

    func finish() -> Bool {
        guard query.feed != .normal else { return false }
        state.withLock { $0.isDone = true }
        return true
    }

    /// Takes the next step. If the database is deleted, a feed ends normally with its current position, on which a
    /// client may rely. A descending feed has no such position, so its connection is closed.
    private func step(_ state: inout State) throws -> ResponseStep {
        let before = state.position
        do {
            let step = try nextStep(&state)
            if case .piece(let bytes) = step, !bytes.isEmpty { state.hasBegun = true }
            return step
        } catch let error as DatabaseError where error.code == .closed && !query.isDescending {
            (state.position, state.hasEnded) = (before, true)
            return .piece(head(state) + tail(state, pending: 0))
        }
    }

    private func nextStep(_ state: inout State) throws -> ResponseStep {
        if let piece = try state.outbox.read() {
            state.lastSign = Self.now
            return .piece(piece)
        }
        if state.hasEnded { return .end }
        var bytes = WireText(head(state))
        let hasMore = try appendRows(to: &bytes, &state)
        if state.asked != nil, !state.isDone, bytes.isEmpty { return .wait }
        if !state.isDone, hasMore || !bytes.isEmpty {
            if !bytes.isEmpty { (state.lastSign, state.hasLookedItself) = (Self.now, false) }
            return try state.outbox.send(bytes, database)
        }
        if !state.isDone, !goesOn(state) { state.isDone = true }
        if state.isDone {
            bytes += tail(state, pending: try pending(state))
            state.hasEnded = true
            return try state.outbox.send(bytes, database)
        }
        return try wait(&state)
    }

    /// The bytes before the first row; empty if they were sent.
    private func head(_ state: State) -> [UInt8] { state.hasBegun ? [] : row.framing.head }

    func tail(_ state: State, pending: Int) -> [UInt8] {
        row.framing.tail(row.sequences.text(state.position), pending: pending)
    }

    /// The number of changes that follow the position.
    func pending(_ state: State) throws -> Int {
        try database.count(
            changedIn: query.isDescending
                ? SequenceRange(after: 0, through: state.through) : SequenceRange(after: state.position))
    }

    /// Whether the feed waits when there are no more changes. A descending feed ends instead.
    private func goesOn(_ state: State) -> Bool {
        if query.isDescending { return false }
        return switch query.feed {
        case .normal: false
        case .longpoll: state.rows == 0
        case .continuous, .eventsource: true
        }
    }

    /// Appends changes, at most as many as one turn may read.
    ///
    /// The bound matters when a filter excludes all of a large database: the feed can't be ended while this
    /// searches.
    ///
    /// - Returns: Whether there may be more changes.
    private func appendRows(to bytes: inout WireText, _ state: inout State) throws -> Bool {
        for _ in 0..<Self.pagesAtOnce where !state.isDone && bytes.count < 64 * 1024 {
            switch try appendShared(to: &bytes, &state) ?? appendOwn(to: &bytes, &state) {
            case .page: break
            case .pause: return true
            case .end: return false
            }
            // A filter can exclude changes for longer than the heartbeat's interval.
            if let heartbeat, Self.now - state.lastSign >= heartbeat {
                bytes += row.framing.sign
                return true
            }
        }
        return !state.isDone
    }

    /// Appends rows that were rendered for all feeds of this kind.
    ///
    /// - Returns: `nil` if it has to read the database itself.
    private func appendShared(to bytes: inout WireText, _ state: inout State) throws -> Progress? {
        guard let kind, !state.looksItself else { return nil }
        let place = try state.place ?? hub.enter(kind, row)
        state.place = place
        switch hub.find(
            place, after: state.position, limit: state.left, isFirst: state.rows == 0, hasTurn: state.hasTurn)
        {
        case .missing: return nil
        case .later: return .end
        case .nothing(let through):
            state.position = through
            return .end
        case .rows(let rows, let count, let through):
            // Usually nothing precedes the rows, and the hub's array is sent without a copy.
            if bytes.isEmpty { bytes = WireText(rows) } else { bytes += rows }
            state.position = through
            state.rows += count
            state.left -= count
            state.isDone = state.left == 0
            return state.isDone ? .end : .page
        }
    }

    private static let pagesAtOnce = 4

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

// MARK: - Waiting

/// Waits for changes, heartbeats and the end.
extension ChangesStream {
    /// Sends a heartbeat, ends the feed, or waits.
    func wait(_ state: inout State) throws -> ResponseStep {
        let silence = Self.now - state.lastSign
        if let heartbeat {
            if silence >= heartbeat {
                state.lastSign = Self.now
                return .piece(row.framing.sign)
            }
        } else if silence >= timeout {
            // Changes may be committed that the hub has not read yet; they must not be missed.
            if !state.hasLookedItself {
                (state.looksItself, state.hasLookedItself) = (true, true)
                return .piece([])
            }
            state.hasEnded = true
            return .piece(tail(state, pending: try pending(state)))
        }
        guard try isWaiting(&state) else { return .piece([]) }
        setTimer(&state, after: (heartbeat ?? timeout) - silence)
        return .wait
    }

    /// Registers with the hub for a wake-up; false if there are changes already.
    ///
    /// - Throws: ``DatabaseError`` with code `closed` if the hub wakes no feed any more, so that the feed ends.
    private func isWaiting(_ state: inout State) throws -> Bool {
        if state.isWaiting { return true }
        let place = try state.place ?? hub.enter(kind, row)
        state.place = place
        state.isWaiting = hub.wait(place, after: state.position, hasTurn: state.hasTurn) { [weak self] in self?.change()
        }
        if !state.isWaiting, hub.isClosed { throw DatabaseError(.closed, "the database was closed") }
        return state.isWaiting
    }

    /// Called when there are changes, or the database was closed.
    private func change() {
        let wake = state.withLock { state in
            (state.isWaiting, state.hasTurn) = (false, true)
            return state.wake
        }
        wake?()
    }

    /// Schedules a wake-up. There is only one timer at a time; if it fires early, it is set again. The timer
    /// outlives the feed, so its delay is short.
    private func setTimer(_ state: inout State, after nanoseconds: UInt64) {
        guard !state.isTimerSet else { return }
        state.isTimerSet = true
        let delay = DispatchTimeInterval.nanoseconds(Int(min(nanoseconds, Self.longestTimer)))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
            let wake = self?.state.withLock { state in
                state.isTimerSet = false
                return state.wake
            }
            wake?()
        }
    }

    private static let longestTimer: UInt64 = 60_000_000_000
}
