internal import Dispatch
internal import SettleCore
internal import SettlePlatform
internal import Synchronization

/// A storage engine whose files can be closed and opened again, so that other processes can use them meanwhile.
///
///     open ──suspend──→ leaving ──the last user ends──→ suspended ──resume──→ open
///          ──another process wants it, or idle, if shared──→ away ──the next call──→ open
///
/// A call inside another call on the same thread, such as a read in a transaction, continues while the engine is
/// being closed. Other calls then throw `suspended`; if the database is shared, they wait until the files are open
/// again.
final class SuspendableEngine: SuspendableStorage {
    private enum Phase {
        case open(SQLiteEngine)
        /// A thread is opening or closing the files.
        case changing
        /// The files are closed until the next call.
        case away
        case suspended
        /// The database is closed. The engine provides the errors of later calls, and a write that closes its own
        /// database continues.
        case closed(SQLiteEngine?)
    }

    private struct State {
        var phase: Phase
        /// The threads that are in calls, and the depth of their calls.
        var users: [(thread: ThreadID, depth: Int)] = []
        /// Whether no new call may begin, so that the files can be closed.
        var isLeaving = false
        /// Whether the files are being closed for ``suspend()``.
        var isSuspending = false
        var opened = ContinuousClock.now
        var lastUse = ContinuousClock.now
        /// The state of the files when they were closed.
        var files: [FileStatus?] = []
        var listener: (@Sendable (CommitNotice) -> Void)?
        var hooks: Hooks?

        /// Whether this thread is in a call. Its further calls belong to that call, and continue while the engine
        /// is being closed.
        var isInside: Bool {
            let thread = ThreadID.current
            return users.contains { $0.thread == thread }
        }

        mutating func enter() {
            let thread = ThreadID.current
            if let place = users.firstIndex(where: { $0.thread == thread }) {
                users[place].depth += 1
            } else {
                users.append((thread, 1))
            }
        }

        mutating func leave() {
            let thread = ThreadID.current
            guard let place = users.firstIndex(where: { $0.thread == thread }) else { return }
            users[place].depth -= 1
            if users[place].depth == 0 { users.remove(at: place) }
        }
    }

    /// Closures that the engine calls when it closes and opens its files.
    struct Hooks: Sendable {
        /// Returns the database, which must not be released by a thread that opens or closes its files.
        let owner: @Sendable () -> AnyObject?
        /// Closes other files of the database.
        let willClose: @Sendable () -> Void
        /// Reads cached data again. No other call runs meanwhile.
        let hasOpened: @Sendable (any StorageEngine) throws -> Void
        /// Notifies observers.
        let announce: @Sendable () -> Void
    }

    private let state: Monitor<State>
    private let turn: ProcessTurn
    private let sharing: ProcessSharing?
    private let open: @Sendable () throws -> SQLiteEngine
    /// The number of calls that want the files closed; while it is not 0, no thread waits for a turn.
    private let closers = Atomic<Int>(0)

    /// Opens the files.
    ///
    /// - Parameters:
    ///   - turn: The turn of this process, which it has.
    ///   - sharing: The way in which other processes get their turns; `nil` if only by suspension.
    ///   - open: Opens the files.
    /// - Throws: Errors of the closure.
    init(_ turn: ProcessTurn, sharing: ProcessSharing?, open: @escaping @Sendable () throws -> SQLiteEngine) throws {
        self.turn = turn
        self.sharing = sharing
        self.open = open
        state = Monitor(State(phase: .open(try open())))
    }

    /// Sets the closures for closing and opening files. The first turn does not end before this call.
    func onChange(_ hooks: Hooks) {
        state.withLock { $0.hooks = hooks }
        if sharing != nil { look() }
    }

    // MARK: - Calls

    /// Runs a closure while the files are open.
    func whileOpen<Result>(_ body: () throws -> Result) throws -> Result { try using { _ in try body() } }

    @inline(__always) private func using<Result>(_ body: (SQLiteEngine) throws -> Result) throws -> Result {
        let engine = try begin()
        defer { end() }
        return try body(engine)
    }

    private func begin() throws -> SQLiteEngine {
        // Nearly all calls find the files open, and do not ask for the time.
        lazy var deadline = ContinuousClock.now + (sharing?.patience ?? .zero).bounded
        while true {
            let engine: SQLiteEngine? = try state.wait { state -> SQLiteEngine?? in
                switch state.phase {
                case .open(let engine):
                    guard state.isLeaving, !state.isInside else {
                        state.enter()
                        return .some(engine)
                    }
                    if state.isSuspending { throw Self.suspended }
                    return nil
                case .changing: return nil
                case .away:
                    state.phase = .changing
                    return .some(nil)
                case .suspended: throw Self.suspended
                case .closed(let engine?):
                    state.enter()
                    return .some(engine)
                case .closed(nil): throw Self.closed
                }
            }
            if let engine { return engine }
            do { try reopen(or: .away, until: deadline) } catch is Interrupted {}
        }
    }

    /// Begins a call if the files are open.
    private func beginAtOnce() throws -> SQLiteEngine {
        let engine: SQLiteEngine? = state.withLock { state in
            guard case .open(let engine) = state.phase, !state.isLeaving || state.isInside else { return nil }
            state.enter()
            return engine
        }
        guard let engine else { throw NotAtHand() }
        return engine
    }

    /// Thrown if another call wants the files closed.
    private struct Interrupted: Error {}

    private func end() {
        let mayLeave = state.withLock { state in
            state.leave()
            return state.users.isEmpty && (state.isLeaving || sharing != nil)
        }
        guard mayLeave else { return }
        let engine: SQLiteEngine? = state.update { state in
            state.lastUse = .now
            guard state.users.isEmpty, !state.isSuspending, state.hooks != nil, sharing != nil,
                case .open(let engine) = state.phase,
                state.isLeaving || (state.opened + ProcessSharing.turn < .now && turn.isWanted)
            else { return nil }
            state.phase = .changing
            return engine
        }
        if let engine { leave(engine, for: .away) }
    }

    /// Opens the files in the turn of this process. Called by the thread that has set the phase `changing`.
    private func reopen(or previous: Phase, until deadline: ContinuousClock.Instant) throws {
        var hooks: Hooks?
        do {
            try turn.acquire(until: deadline) { closers.load(ordering: .relaxed) > 0 ? Interrupted() : nil }
            let (known, listener, files) = state.withLock { ($0.hooks, $0.listener, $0.files) }
            if files != turn.state { hooks = known }
            var opened: SQLiteEngine?
            do {
                let engine = try open()
                opened = engine
                if let listener { engine.onCommit(listener) }
                try known?.hasOpened(engine)
                state.update { state in
                    state.phase = .open(engine)
                    (state.opened, state.lastUse) = (.now, .now)
                }
            } catch {
                opened?.close()
                turn.release()
                throw error
            }
        } catch {
            state.update { $0.phase = previous }
            throw error
        }
        hooks?.announce()
    }

    /// Closes the files and releases the turn. Called by the thread that has set the phase `changing`.
    private func leave(_ engine: SQLiteEngine, for phase: Phase) {
        state.withLock(\.hooks)?.willClose()
        engine.close()
        let files = turn.state
        turn.release()
        state.update { state in
            (state.phase, state.files) = (phase, files)
            (state.isLeaving, state.isSuspending) = (false, false)
        }
    }

    private static var closed: DatabaseError { DatabaseError(.closed, "the database was closed") }

    private static var suspended: DatabaseError {
        DatabaseError(.suspended, "the database is suspended; call resume() first")
    }

    // MARK: - Suspension

    /// Waits for running calls, closes the files, and releases the turn; later calls throw `suspended`.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` inside a transaction or a snapshot, and `closed`.
    func suspend() throws {
        closers.add(1, ordering: .relaxed)
        defer { closers.subtract(1, ordering: .relaxed) }
        let engine: SQLiteEngine? = try state.wait { state -> SQLiteEngine?? in
            switch state.phase {
            case .open(let engine):
                guard !state.isInside else {
                    throw DatabaseError(.invalid, "a transaction or snapshot can't suspend its own database")
                }
                (state.isLeaving, state.isSuspending) = (true, true)
                guard state.users.isEmpty else { return nil }
                state.phase = .changing
                return .some(engine)
            case .changing: return nil
            case .away, .suspended:
                state.phase = .suspended
                return .some(nil)
            case .closed: throw Self.closed
            }
        }
        if let engine { leave(engine, for: .suspended) }
    }

    /// Opens the files again.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another process has them; the database stays suspended.
    func resume() throws {
        let isNeeded = try state.wait { state -> Bool? in
            switch state.phase {
            case .suspended:
                state.phase = .changing
                return true
            case .open where state.isSuspending, .changing: return nil
            case .open, .away: return false
            case .closed: throw Self.closed
            }
        }
        guard isNeeded else { return }
        do { try reopen(or: .suspended, until: .now + (sharing?.patience ?? .zero).bounded) } catch is Interrupted {
            throw Self.suspended
        }
    }

    /// Whether the files are closed until ``resume()``.
    var isSuspended: Bool {
        state.withLock { state in
            if case .suspended = state.phase { true } else { state.isSuspending }
        }
    }

    // MARK: - Turns

    /// Checks from time to time whether another process wants its turn or has written something.
    private func look(in interval: DispatchTimeInterval = ProcessSharing.lookWhenOpen) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self, let next = self.checkTurn() else { return }
            self.look(in: next)
        }
    }

    private enum Finding {
        case nothing
        case mustLeave(SQLiteEngine)
        case othersWrote
    }

    /// Releases the turn if another process wants it, it is not used, or the database was deleted, and announces writes of other
    /// processes.
    ///
    /// - Returns: The time until the next check; `nil` after the database is closed.
    private func checkTurn() -> DispatchTimeInterval? {
        // Keeps the database alive, so that it is released, and closes itself, at the end of this method and not in
        // the middle.
        let owner = state.withLock(\.hooks)?.owner()
        defer { withExtendedLifetime(owner) {} }
        if owner == nil { return nil }
        let isOpen = state.withLock { state in
            if case .open = state.phase { true } else { false }
        }
        // The next call finds that the database was deleted. A process that reads on and on would never be idle.
        let isWanted = isOpen && (turn.isWanted || turn.isGone)
        let finding: Finding? = state.update { state in
            switch state.phase {
            case .closed: return nil
            case .open(let engine):
                let isIdle = state.users.isEmpty && state.lastUse + ProcessSharing.idle < .now
                guard !state.isSuspending, isIdle || (isWanted && state.opened + ProcessSharing.turn < .now) else {
                    return .nothing
                }
                state.isLeaving = true
                guard state.users.isEmpty else { return .nothing }
                state.phase = .changing
                return .mustLeave(engine)
            case .away: return state.files == turn.state ? .nothing : .othersWrote
            case .changing, .suspended: return .nothing
            }
        }
        switch finding {
        case nil: return nil
        case .nothing?: break
        case .mustLeave(let engine)?: leave(engine, for: .away)
        // If the other process keeps the files, the next check tries again.
        case .othersWrote?: try? whileOpen {}
        }
        return state.withLock { state in
            if case .open = state.phase { ProcessSharing.lookWhenOpen } else { ProcessSharing.lookWhenAway }
        }
    }

    // MARK: - StorageEngine

    var isWriting: Bool {
        state.withLock { state in
            switch state.phase {
            case .open(let engine), .closed(let engine?): engine.isWriting
            default: false
            }
        }
    }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try using { try $0.read(body) } }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try using { try $0.snapshot(body) }
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try using { try $0.commit(body) }
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result { try using { try $0.hold(body) } }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) {
        state.withLock { state in
            state.listener = notify
            if case .open(let engine) = state.phase { engine.onCommit(notify) }
        }
    }

    func close() {
        closers.add(1, ordering: .relaxed)
        defer { closers.subtract(1, ordering: .relaxed) }
        let engine: SQLiteEngine? = state.wait { state -> SQLiteEngine?? in
            switch state.phase {
            case .changing: return nil
            case .open(let engine):
                state.phase = .closed(engine)
                return .some(engine)
            case .away, .suspended:
                state.phase = .closed(nil)
                return .some(nil)
            case .closed(let engine): return .some(engine)
            }
        }
        engine?.close()
    }
}

// MARK: - Capabilities

extension SuspendableEngine: PromptStorage, JournalStorage, RestorableStorage, MaintainedStorage {
    func shortRecord(of id: DocumentID, maximumBytes: Int) throws -> DocumentRecord? {
        let engine = try beginAtOnce()
        defer { end() }
        return try engine.shortRecord(of: id, maximumBytes: maximumBytes)
    }

    func removeJournal() throws { try using { try $0.removeJournal() } }

    func restore(_ record: DocumentRecord) throws { try using { try $0.restore(record) } }

    func restoreSequence(_ sequence: UpdateSequence) throws { try using { try $0.restoreSequence(sequence) } }

    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport { try using { try $0.maintain(task) } }
}
