internal import Dispatch
internal import SettlePlatform

/// A thread that waits for its turn to write, and for the commit of its changes.
final class WriteTurn: Sendable {
    /// What wakes the thread.
    enum Signal: Sendable {
        /// The thread runs its closure now.
        case run(GroupCommit<WriteTurn>.Place)
        /// The write is over, with the error it failed with.
        case ended((any Error)?)
    }

    /// A closure that the thread whose turn it is may run for this one.
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
