internal import Dispatch
internal import SettlePlatform

/// Decides the order in which the writers of a database run, and which of them share a commit: group commit.
///
///     A  begins ─ writes ─ B waits ──────────────────────── woken by the commit
///     B     waits          savepoint ─ writes ─ C waits ─── woken by the commit
///     C          waits                 savepoint ─ writes ─ commits for all three
///
/// If other writers wait when a writer has done its work, it stays in the batch, and the next one writes into the
/// same transaction. The commit wakes the whole batch. So a burst of writers needs only one flush of the disk, and
/// a single writer does not wait.
///
/// The value makes no calls. An executor reports each event and performs the returned actions in order. At any time
/// at most one thread performs a ``Action/run(_:_:)``, ``Action/commit`` or ``Action/rollBack``, and reports its
/// result.
struct GroupCommit<Writer: Sendable>: Sendable {
    /// The context in which a writer's closure runs.
    enum Place {
        /// The first of a transaction, which the executor begins.
        case transaction
        /// A savepoint of the open transaction, so that the closure can fail alone.
        case savepoint
        /// Between two transactions.
        case alone
    }

    /// The result of a writer's closure.
    enum Ending {
        case kept
        /// The closure failed. In a savepoint, its changes are already rolled back.
        case failed
        /// The closure failed, and the transaction is gone or can't be used anymore.
        case lost
    }

    enum Event: Sendable {
        case arrived(Writer, alone: Bool)
        case wrote(Ending)
        case committed
        case commitFailed
        case rolledBack
        /// The writer, if there is one, waits until the connection is closed.
        case closing(Writer?)
    }

    /// The result that a writer gets when it is woken.
    enum Outcome: Sendable {
        case done
        /// Its own closure failed.
        case failed
        /// Its closure succeeded, but its transaction was not committed.
        case lost
        /// The database was closed before its turn.
        case closed
    }

    enum Action: Sendable {
        case run(Writer, Place)
        case commit
        case rollBack
        case wake([Writer], Outcome)
        case close
    }

    private enum Phase {
        case idle
        case running(Writer, Place)
        case committing
        case rollingBack(failed: [Writer])
        case closed
    }

    private let largestBatch: Int
    private var phase = Phase.idle
    private var waiting = Queue<(writer: Writer, alone: Bool)>()
    /// The writers whose work is in the open transaction.
    private var batch: [Writer] = []
    /// The writers that wait until the database is closed; `nil` while it is open.
    private var closers: [Writer]?

    init(largestBatch: Int) { self.largestBatch = largestBatch }

    /// Processes an event and returns the actions to perform, in order.
    mutating func handle(_ event: Event) -> [Action] {
        switch (event, phase) {
        case (.arrived(let writer, let alone), _): return arrive(writer, alone)
        case (.closing(let writer), _): return close(writer)
        case (.wrote(let ending), .running(let writer, .alone)):
            return [.wake([writer], ending == .kept ? .done : .failed)] + next()
        case (.wrote(.kept), .running(let writer, _)):
            batch.append(writer)
            return shareOrCommit()
        case (.wrote(.failed), .running(let writer, .savepoint)):
            return [.wake([writer], .failed)] + shareOrCommit()
        case (.wrote, .running(let writer, _)): return rollBack(failed: [writer])
        case (.committed, .committing):
            defer { batch = [] }
            return [.wake(batch, .done)] + next()
        case (.commitFailed, .committing): return rollBack(failed: [])
        case (.rolledBack, .rollingBack(let failed)):
            defer { batch = [] }
            return [.wake(failed, .failed), .wake(batch, .lost)] + next()
        case (.wrote, _), (.committed, _), (.commitFailed, _), (.rolledBack, _):
            assertionFailure("\(event) in \(phase)")
            return []
        }
    }

    private mutating func arrive(_ writer: Writer, _ alone: Bool) -> [Action] {
        guard closers == nil else { return [.wake([writer], .closed)] }
        waiting.append((writer, alone))
        if case .idle = phase { return next() }
        return []
    }

    private mutating func close(_ writer: Writer?) -> [Action] {
        let closing = writer.map { [$0] } ?? []
        guard closers == nil else { return [.wake(closing, .done)] }
        closers = closing
        var refused: [Writer] = []
        while let next = waiting.popFirst() { refused.append(next.writer) }
        let end: [Action]
        if case .idle = phase { end = next() } else { end = [] }
        return [.wake(refused, .closed)] + end
    }

    private mutating func rollBack(failed: [Writer]) -> [Action] {
        phase = .rollingBack(failed: failed)
        return [.rollBack]
    }

    /// Lets the next writer into the open transaction, or commits it.
    private mutating func shareOrCommit() -> [Action] {
        guard batch.count < largestBatch, waiting.first?.alone == false else {
            phase = .committing
            return [.commit]
        }
        return start(.savepoint)
    }

    /// Continues after the end of a transaction.
    private mutating func next() -> [Action] {
        if let closers {
            phase = .closed
            return [.close, .wake(closers, .done)]
        }
        return start(.transaction)
    }

    private mutating func start(_ place: Place) -> [Action] {
        guard let next = waiting.popFirst() else {
            phase = .idle
            return []
        }
        let place = next.alone ? .alone : place
        phase = .running(next.writer, place)
        return [.run(next.writer, place)]
    }
}

// MARK: - WriteTurn

/// A thread that waits for its turn to write, and for the commit of its changes.
final class WriteTurn: Sendable {
    /// A signal that wakes the thread.
    enum Signal: Sendable {
        /// The thread runs its closure now.
        case run(GroupCommit<WriteTurn>.Place)
        /// The write is over, with the error it failed with.
        case ended((any Error)?)
    }

    /// A closure that another thread may run for this one during its own turn.
    typealias Job = @Sendable (any StorageWriter) throws -> Void

    let job: Job?
    private let semaphore = DispatchSemaphore(value: 0)
    private let newest = Guarded<Signal?>(nil)

    init(job: Job? = nil) { self.job = job }

    /// Whether the thread was woken for the last time.
    var hasEnded: Bool {
        if case .ended? = newest.withLock({ $0 }) { true } else { false }
    }

    func wake(_ signal: Signal) {
        newest.withLock { $0 = signal }
        semaphore.signal()
    }

    /// Waits to be woken, if it was not woken already.
    func wait() -> Signal {
        semaphore.wait()
        return newest.withLock { $0 } ?? .ended(nil)
    }
}

extension GroupCommit.Outcome {
    /// The error that a woken thread throws, given the executor's newest failure.
    func error(_ failure: (any Error)?) -> (any Error)? {
        switch self {
        case .done: nil
        case .failed, .lost: failure ?? DatabaseError(.storage, "the write was not committed; retry")
        case .closed: DatabaseError(.closed, "the database was closed")
        }
    }
}
