internal import Dispatch
internal import SettlePlatform

/// Lets one thread at a time write, and lets those that wait share one commit: group commit.
///
///     A  enters, begins ─ writes ─ B waits: passes on ─────────────────── done
///     B          waits             enters ─ writes ─ C waits: passes on ─ done
///     C                     waits                   enters ─ writes ─ commits for all three
///
/// A thread that leaves while others wait passes the open transaction on and waits for its end; the last one commits
/// and wakes them. So a burst of writers pays for one flush of the disk, and a lone writer waits for nobody.
///
/// Who waits may leave a job instead, for whoever has the turn to do in its place; then it is woken once, by the commit:
///
///     A  enters, begins ─ writes ─ does B's job ─ does C's job ─ commits for all three
///     B          waits with a job ────────────────────────────── done
///     C                     waits with a job ─────────────────── done
final class WriteQueue: Sendable {
    /// The writes that share a commit.
    final class Batch: Sendable {
        private let waiting = Guarded<[Waiter]>([])

        func add(_ waiter: Waiter) { waiting.withLock { $0.append(waiter) } }

        /// Tells all that the commit has happened, or why not.
        func finish(_ error: (any Error)?) {
            for waiter in waiting.withLock({ $0 }) { waiter.wake(error) }
        }
    }

    /// Work that another thread may do, whose turn it is; says whether there is something to be committed now.
    typealias Job = @Sendable () -> Bool

    /// One thread that waits, and what it is told.
    final class Waiter: Sendable {
        let job: Job?
        private let semaphore = DispatchSemaphore(value: 0)
        private let error = Guarded<(any Error)?>(nil)

        init(job: Job? = nil) { self.job = job }

        func wake(_ error: (any Error)?) {
            self.error.withLock { $0 = error }
            semaphore.signal()
        }

        /// Waits to be woken; throws what it is told.
        func wait() throws {
            semaphore.wait()
            if let error = error.withLock({ $0 }) { throw error }
        }
    }

    private struct State {
        var isTaken = false
        var waiting: [Waiter] = []
        var firstWaiting = 0
    }

    private let state = Guarded(State())

    /// Waits for the turn to write, or until the job was done by another thread and that was committed.
    ///
    /// - Throws: Why it could not be committed.
    func enter(leaving job: Job? = nil) throws {
        let waiter: Waiter? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let waiter = Waiter(job: job)
            state.waiting.append(waiter)
            return waiter
        }
        try waiter?.wait()
    }

    /// The next that waits, if it has left a job; it does not get the turn any more, and is to be woken.
    func takeNextWithJob() -> Waiter? {
        state.withLock { state in
            guard state.firstWaiting < state.waiting.count, state.waiting[state.firstWaiting].job != nil else {
                return nil
            }
            return Self.takeNext(&state)
        }
    }

    /// Whether another thread waits for its turn.
    var isAwaited: Bool { state.withLock { $0.firstWaiting < $0.waiting.count } }

    /// Gives the turn to the next that waits.
    func leave() {
        let next: Waiter? = state.withLock { state in
            guard state.firstWaiting < state.waiting.count else {
                state.isTaken = false
                return nil
            }
            return Self.takeNext(&state)
        }
        next?.wake(nil)
    }

    private static func takeNext(_ state: inout State) -> Waiter {
        let next = state.waiting[state.firstWaiting]
        state.firstWaiting += 1
        if state.firstWaiting == state.waiting.count {
            state.waiting.removeAll(keepingCapacity: true)
            state.firstWaiting = 0
        }
        return next
    }
}
