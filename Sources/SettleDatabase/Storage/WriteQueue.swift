internal import Dispatch
internal import SettlePlatform

/// The queue of the writers of one database: it gives each thread its turn, and performs what ``GroupCommit`` decides.
///
/// The thread that has the turn also runs the jobs of the writers that wait after it, and commits for all of them. The lock of
/// `commits` lets one thread at a time perform an action.
package final class WriteQueue: Sendable {
    private let commits: Guarded<GroupCommit<WriteTurn>>

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - largestBatch: The most writers that share a transaction, those that fail included.
    ///   - maximumBytes: The most bytes of changes that share a commit.
    package init(largestBatch: Int, maximumBytes: Int = .max) {
        commits = Guarded(GroupCommit(largestBatch: largestBatch, maximumBytes: maximumBytes))
    }

    /// The number of writers that wait for their turn.
    package var waitingCount: Int { commits.withLock { $0.waitingCount } }

    /// Waits for a turn to write, runs a closure in it, and waits for the commit.
    ///
    /// - Parameters:
    ///   - turn: The turn to wait for.
    ///   - storage: The storage that performs the actions.
    ///   - alone: Whether the closure runs between two transactions.
    ///   - bytes: About how many bytes the writer changes.
    ///   - body: The closure of this thread. It does not run if another thread did the job of the turn.
    /// - Throws: What the closure throws, or why its changes were not committed.
    package func run(
        _ turn: WriteTurn, on storage: any QueuedStorage, alone: Bool = false, bytes: Int = 0, _ body: () throws -> Void
    ) throws {
        perform(.arrived(turn, alone: alone, bytes: bytes), for: turn, storage)
        while true {
            switch turn.wait() {
            case .run(let place):
                var failure: (any Error)?
                let event = run(place, storage, &failure, body)
                perform(event, for: turn, storage, failure: failure)
            case .ended(let failure?): throw failure
            case .ended(nil): return
            }
        }
    }

    /// Fails the writers that wait for their turn.
    package func refuseWaiting(_ error: any Error) {
        for turn in commits.withLock({ $0.dequeueWaiting() }) { turn.wake(.ended(error)) }
    }

    /// Fails the writers that wait and those that come later, and closes the storage when no writer uses it.
    ///
    /// - Parameters:
    ///   - storage: The storage that performs the actions.
    ///   - waits: Whether the call returns only after the storage is closed.
    package func close(_ storage: any QueuedStorage, waits: Bool) {
        let turn = WriteTurn()
        perform(.closing(waits ? turn : nil), for: turn, storage)
        if waits { _ = turn.wait() }
    }

    /// Reports an event and performs all that follows from it on this thread.
    ///
    /// - Parameters:
    ///   - first: The event.
    ///   - own: The turn of this thread. Until it has ended, jobs of other turns are done here.
    ///   - storage: The storage that performs the actions.
    ///   - failure: Why the event is a failure.
    private func perform(
        _ first: GroupCommit<WriteTurn>.Event, for own: WriteTurn, _ storage: any QueuedStorage,
        failure: (any Error)? = nil
    ) {
        var (event, failure) = (Optional(first), failure)
        while let current = event {
            event = nil
            for action in commits.withLock({ $0.handle(current) }) {
                switch action {
                case .run(let turn, let place):
                    if turn !== own, let job = turn.job, !own.hasEnded {
                        event = run(place, storage, &failure, job)
                    } else {
                        turn.wake(.run(place))
                    }
                case .commit:
                    do {
                        try storage.commitTransaction()
                        event = .committed
                    } catch {
                        failure = error
                        event = .commitFailed
                    }
                case .rollBack:
                    storage.rollBackTransaction()
                    event = .rolledBack
                case .wake(let turns, let outcome):
                    let error = outcome.error(failure)
                    for turn in turns { turn.wake(.ended(error)) }
                case .close:
                    storage.closeConnection()
                    event = .closed
                }
            }
        }
    }

    /// Runs a closure in its turn and says how it ended.
    private func run(
        _ place: WritePlace, _ storage: any QueuedStorage, _ failure: inout (any Error)?, _ body: () throws -> Void
    ) -> GroupCommit<WriteTurn>.Event {
        do {
            try storage.run(place, body)
            return .wrote(.kept)
        } catch {
            failure = error
            return .wrote(storage.hasTransaction ? .failed : .lost)
        }
    }
}

/// The storage of a ``WriteQueue``. Each call is made by the thread that has the turn.
package protocol QueuedStorage: AnyObject, Sendable {
    /// Runs the closure of a writer.
    ///
    /// - Parameters:
    ///   - place: Where it runs.
    ///   - body: The closure.
    /// - Throws: What the closure throws, or why it can't run. In a savepoint its changes are undone.
    func run(_ place: WritePlace, _ body: () throws -> Void) throws

    /// Whether the open transaction can still be used, after a closure in it has failed.
    var hasTransaction: Bool { get }

    /// Commits the open transaction.
    ///
    /// - Throws: Why its changes are not committed. ``rollBackTransaction()`` follows.
    func commitTransaction() throws

    /// Undoes the open transaction.
    func rollBackTransaction()

    /// Closes the connection, which no writer uses from now on.
    func closeConnection()
}

// MARK: - WriteTurn

/// A thread that waits for its turn to write, and for the commit of its changes.
package final class WriteTurn: Sendable {
    /// What wakes the thread.
    enum Signal: Sendable {
        /// The thread runs its closure now.
        case run(WritePlace)
        /// The write is over, with the error it failed with.
        case ended((any Error)?)
    }

    /// A closure that the thread whose turn it is may run for this one.
    package typealias Job = @Sendable () throws -> Void

    let job: Job?
    private let semaphore = DispatchSemaphore(value: 0)
    private let newest = Guarded<Signal?>(nil)

    /// Creates a turn.
    package init(job: Job? = nil) { self.job = job }

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
    /// The error that a woken thread throws, given the newest failure of the storage.
    func error(_ failure: (any Error)?) -> (any Error)? {
        switch self {
        case .done: nil
        case .failed, .lost: failure ?? DatabaseError(.storage, "the write was not committed; retry")
        case .closed: DatabaseError(.closed, "the database was closed")
        }
    }
}
