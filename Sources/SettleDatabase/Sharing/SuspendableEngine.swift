internal import Dispatch
internal import SettlePlatform

/// A storage engine whose files can be closed and opened again, so that other processes can use them meanwhile.
///
///     open ──suspend──→ leaving ──the last user ends──→ suspended ──resume──→ open
///          ──another process wants it, or idle, if shared──→ away ──the next call──→ open
///
/// A call that is inside another one on the same thread, as a read in a transaction is, goes on while the engine is left.
/// Other calls then throw `suspended`, or, if the database is shared, wait until the files are open again.
final class SuspendableEngine: StorageEngine {
    private enum Phase {
        case open(SQLiteEngine)
        /// A thread is opening or closing the files.
        case changing
        /// The files are closed until the next call.
        case away
        case suspended
        /// The engine gives the errors of later calls, and a write that closes its own database goes on.
        case closed(SQLiteEngine?)
    }

    private struct State {
        var phase: Phase
        /// How many calls are running.
        var users = 0
        /// Whether no new call may begin, so that the files can be closed.
        var isLeaving = false
        /// Whether they are left for ``suspend()``.
        var isSuspending = false
        var opened = ContinuousClock.now
        var lastUse = ContinuousClock.now
        /// The files when they were closed.
        var files: [FileStatus?] = []
        var listener: (@Sendable (UpdateSequence) -> Void)?
        var hooks: Hooks?
    }

    /// What the database does when files are closed and opened.
    struct Hooks: Sendable {
        /// Closes other files of the database.
        let willClose: @Sendable () -> Void
        /// Reads again what is kept in memory. No other call runs meanwhile.
        let hasOpened: @Sendable (any StorageEngine) throws -> Void
        /// Tells observers.
        let announce: @Sendable () -> Void
    }

    private let state: Monitor<State>
    private let turn: ProcessTurn
    private let sharing: ProcessSharing?
    private let open: @Sendable () throws -> SQLiteEngine

    /// Opens the files.
    ///
    /// - Parameters:
    ///   - turn: The turn of this process, which it has.
    ///   - sharing: How other processes get their turns; `nil` if only by suspension.
    ///   - open: Opens the files.
    /// - Throws: What the closure throws.
    init(_ turn: ProcessTurn, sharing: ProcessSharing?, open: @escaping @Sendable () throws -> SQLiteEngine) throws {
        self.turn = turn
        self.sharing = sharing
        self.open = open
        state = Monitor(State(phase: .open(try open())))
        if sharing != nil { look() }
    }

    /// Sets what is called when files are closed and opened.
    func onChange(_ hooks: Hooks) { state.withLock { $0.hooks = hooks } }

    // MARK: - Calls

    /// Runs a closure while the files are open.
    func whileOpen<Result>(_ body: () throws -> Result) throws -> Result { try using { _ in try body() } }

    private func using<Result>(_ body: (SQLiteEngine) throws -> Result) throws -> Result {
        let engine = try begin()
        defer { end() }
        return try body(engine)
    }

    private func begin() throws -> SQLiteEngine {
        while true {
            let engine: SQLiteEngine? = try state.wait { state -> SQLiteEngine?? in
                switch state.phase {
                case .open(let engine):
                    guard state.isLeaving, !engine.isUsedByThisThread else {
                        state.users += 1
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
                    state.users += 1
                    return .some(engine)
                case .closed(nil): throw Self.closed
                }
            }
            if let engine { return engine }
            try reopen(or: .away, waiting: sharing?.seconds ?? 0)
        }
    }

    private func end() {
        let mayLeave = state.withLock { state in
            state.users -= 1
            return state.users == 0 && (state.isLeaving || sharing != nil)
        }
        guard mayLeave else { return }
        let engine: SQLiteEngine? = state.update { state in
            state.lastUse = .now
            guard state.users == 0, !state.isSuspending, sharing != nil, case .open(let engine) = state.phase,
                state.isLeaving || (state.opened + ProcessSharing.turn < .now && turn.isWanted)
            else { return nil }
            state.phase = .changing
            return engine
        }
        if let engine { leave(engine, for: .away) }
    }

    /// Opens the files in the turn of this process. Called by the thread that has set the phase `changing`.
    private func reopen(or previous: Phase, waiting seconds: Double) throws {
        var hooks: Hooks?
        do {
            try turn.take(waiting: seconds)
            let engine: SQLiteEngine
            do {
                engine = try open()
                let (known, listener) = state.withLock { ($0.hooks, $0.listener) }
                if let listener { engine.onCommit(listener) }
                try known?.hasOpened(engine)
                hooks = known
            } catch {
                turn.release()
                throw error
            }
            state.update { state in
                state.phase = .open(engine)
                (state.opened, state.lastUse) = (.now, .now)
            }
        } catch {
            state.update { $0.phase = previous }
            throw error
        }
        hooks?.announce()
    }

    /// Closes the files and gives the turn away. Called by the thread that has set the phase `changing`.
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

    /// Waits for the calls that run, closes the files, and gives the turn away; later calls throw `suspended`.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` inside a transaction or a snapshot, and `closed`.
    func suspend() throws {
        let engine: SQLiteEngine? = try state.wait { state -> SQLiteEngine?? in
            switch state.phase {
            case .open(let engine):
                guard !engine.isUsedByThisThread else {
                    throw DatabaseError(.invalid, "a transaction or snapshot can't suspend its own database")
                }
                (state.isLeaving, state.isSuspending) = (true, true)
                guard state.users == 0 else { return nil }
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
        if isNeeded { try reopen(or: .suspended, waiting: sharing?.seconds ?? 0) }
    }

    /// Whether the files are closed until ``resume()``.
    var isSuspended: Bool {
        state.withLock { state in
            if case .suspended = state.phase { true } else { state.isSuspending }
        }
    }

    // MARK: - Turns

    /// Looks from time to time whether another process wants its turn or has written something.
    private func look(in interval: DispatchTimeInterval = ProcessSharing.lookWhenOpen) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self, let next = self.takeTurns() else { return }
            self.look(in: next)
        }
    }

    private enum Finding {
        case nothing
        case mustLeave(SQLiteEngine)
        case othersWrote
    }

    /// Gives the turn away if it is wanted or not used, and announces what another process has written.
    ///
    /// - Returns: When to look again; `nil` once the database is closed.
    private func takeTurns() -> DispatchTimeInterval? {
        let isWanted = turn.isWanted
        let finding: Finding? = state.update { state in
            switch state.phase {
            case .closed: return nil
            case .open(let engine):
                let isIdle = state.users == 0 && state.lastUse + ProcessSharing.idle < .now
                guard !state.isSuspending, isIdle || (isWanted && state.opened + ProcessSharing.turn < .now) else {
                    return .nothing
                }
                state.isLeaving = true
                guard state.users == 0 else { return .nothing }
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
        // If the other process keeps the files, the next look tries again.
        case .othersWrote?: try? whileOpen {}
        }
        return state.withLock { state in
            if case .open = state.phase { ProcessSharing.lookWhenOpen } else { ProcessSharing.lookWhenAway }
        }
    }

    // MARK: - StorageEngine

    var readsInParallel: Bool { true }

    var isWriting: Bool {
        state.withLock { state in
            if case .open(let engine) = state.phase { engine.isWriting } else { false }
        }
    }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try using { try $0.read(body) } }

    func readIfFree<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        let isOpen = state.withLock { state in
            if case .open = state.phase { !state.isLeaving } else { false }
        }
        guard isOpen else { throw NotAtHand() }
        return try using { try $0.readIfFree(body) }
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try using { try $0.snapshot(body) }
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try using { try $0.commit(body) }
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result { try using { try $0.hold(body) } }

    func onCommit(_ notify: @escaping @Sendable (UpdateSequence) -> Void) {
        state.withLock { state in
            state.listener = notify
            if case .open(let engine) = state.phase { engine.onCommit(notify) }
        }
    }

    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport { try using { try $0.maintain(task) } }

    func close() {
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
