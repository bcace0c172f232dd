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
    typealias Place = WritePlace

    /// The result of a writer's closure.
    enum Ending {
        case kept
        /// The closure failed. In a savepoint, its changes are already rolled back.
        case failed
        /// The closure failed, and the transaction is gone or can no longer be used.
        case lost
    }

    enum Event: Sendable {
        /// A writer waits for its turn, with about so many bytes of changes.
        case arrived(Writer, alone: Bool, bytes: Int = 0)
        case wrote(Ending)
        case committed
        case commitFailed
        case rolledBack
        /// The writer, if there is one, waits until the connection is closed.
        case closing(Writer?)
        case closed
    }

    /// The outcome with which a writer is woken.
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
        case closing
        case closed
    }

    private let largestBatch: Int
    private let maximumBytes: Int
    private var phase = Phase.idle
    private var waiting = Queue<(writer: Writer, alone: Bool, bytes: Int)>()
    /// The writers whose work is in the open transaction.
    private var batch: [Writer] = []
    /// The number of all writers that ran in the open transaction, and their bytes. Those that failed count, too: otherwise
    /// writers that keep failing would put off the commit of those before them.
    private var (count, bytes) = (0, 0)
    /// The threads that wait for the end; `nil` while the database is open.
    private var closers: [Writer]?

    /// Creates the machine of an idle database.
    ///
    /// - Parameters:
    ///   - largestBatch: The most writers that share a transaction, those that fail included.
    ///   - maximumBytes: The most bytes of changes that share a commit; a writer with more has a commit of its own.
    init(largestBatch: Int, maximumBytes: Int = .max) {
        (self.largestBatch, self.maximumBytes) = (largestBatch, maximumBytes)
    }

    /// The number of writers that wait for their turn.
    var waitingCount: Int { waiting.count }

    /// Removes the writers that wait for their turn. The caller wakes them.
    mutating func dequeueWaiting() -> [Writer] {
        var removed: [Writer] = []
        while let next = waiting.popFirst() { removed.append(next.writer) }
        return removed
    }

    /// Handles an event and returns the actions to perform, in order.
    mutating func handle(_ event: Event) -> [Action] {
        switch (event, phase) {
        case (.arrived(let writer, let alone, let bytes), _): return arrive(writer, alone, bytes)
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
        case (.closed, .closing):
            phase = .closed
            defer { closers = [] }
            return [.wake(closers ?? [], .done)]
        case (.wrote, _), (.committed, _), (.commitFailed, _), (.rolledBack, _), (.closed, _):
            assertionFailure("\(event) in \(phase)")
            return []
        }
    }

    private mutating func arrive(_ writer: Writer, _ alone: Bool, _ bytes: Int) -> [Action] {
        guard closers == nil else { return [.wake([writer], .closed)] }
        waiting.append((writer, alone, bytes))
        if case .idle = phase { return next() }
        return []
    }

    private mutating func close(_ writer: Writer?) -> [Action] {
        let closing = writer.map { [$0] } ?? []
        if case .closed = phase { return [.wake(closing, .done)] }
        guard closers == nil else {
            closers? += closing
            return []
        }
        closers = closing
        let refused = dequeueWaiting()
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
        guard count < largestBatch, let next = waiting.first, !next.alone, next.bytes <= maximumBytes - bytes
        else {
            phase = .committing
            return [.commit]
        }
        return start(.savepoint)
    }

    /// Continues after the end of a transaction.
    private mutating func next() -> [Action] {
        if closers != nil {
            phase = .closing
            return [.close]
        }
        return start(.transaction)
    }

    private mutating func start(_ place: Place) -> [Action] {
        guard let next = waiting.popFirst() else {
            phase = .idle
            return []
        }
        let place = next.alone ? .alone : place
        (count, bytes) = place == .savepoint ? (count + 1, bytes + next.bytes) : (1, next.bytes)
        phase = .running(next.writer, place)
        return [.run(next.writer, place)]
    }
}

/// Where the closure of a writer runs.
package enum WritePlace: Sendable {
    /// As the first of a transaction, which the storage begins.
    case transaction
    /// In a savepoint of the open transaction, so that it can fail alone.
    case savepoint
    /// Between two transactions.
    case alone
}
