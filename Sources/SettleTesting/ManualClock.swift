internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// A clock that advances only on request, for tests of code that waits.
///
///     let clock = ManualClock()
///     let retry = Task { try await clock.sleep(for: .seconds(30)) }
///     try await clock.waitForSleepers(1)
///     clock.advance(by: .seconds(30))
///     try await retry.value
///
/// Time passes only in ``advance(by:)`` and the similar methods, on the calling thread; nothing waits for real
/// time. Sleepers are resumed when their deadline is reached, earliest first, and those with the same deadline in
/// the order in which they started to sleep. Swift schedules the resumed tasks, and the clock then shows the time
/// to which it was advanced. So a task that sleeps again sleeps from that time; ``advanceToNextSleeper()`` advances
/// step by step.
public final class ManualClock: Clock {
    /// A moment, as the time since the clock's start.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the start.
        public let offset: Duration

        /// Makes a moment.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// The moment after a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The duration until another moment.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether a moment is before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }

        /// The time since the start.
        public var description: String { "\(offset)" }
    }

    /// The condition that a task waits for.
    private enum Wish {
        case time(Instant)
        case sleepers(Int)
    }

    private struct Waiter {
        let number: Int
        let wish: Wish
        let continuation: CheckedContinuation<Void, any Error>

        /// The deadline of a sleeper.
        var deadline: Instant? { if case .time(let deadline) = wish { deadline } else { nil } }
    }

    private struct State {
        var now = Instant()
        var next = 0
        /// The waiters in order of arrival.
        var waiters: [Waiter] = []
        /// Waiters that were cancelled before they started to wait.
        var cancelled: Set<Int> = []

        var sleepers: Int { waiters.count { $0.deadline != nil } }

        func isFulfilled(_ wish: Wish) -> Bool {
            switch wish {
            case .time(let deadline): deadline <= now
            case .sleepers(let count): sleepers >= count
            }
        }

        /// Removes and returns all waiters whose condition holds: sleepers first, by their deadlines.
        mutating func dequeueFulfilled() -> [Waiter] {
            // Conditions are checked before the sleepers are resumed.
            let fulfilled = waiters.filter { isFulfilled($0.wish) }
            let numbers = Set(fulfilled.map(\.number))
            waiters.removeAll { numbers.contains($0.number) }
            let watchers = fulfilled.filter { $0.deadline == nil }
            let sleepers = fulfilled.compactMap { waiter in waiter.deadline.map { (waiter, $0) } }
            return sleepers.sorted { ($0.1, $0.0.number) < ($1.1, $1.0.number) }.map(\.0) + watchers
        }
    }

    private let state = Guarded(State())

    /// Creates a clock at its start.
    public init() {}

    /// The time to which the clock was advanced.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock distinguishes all moments.
    public var minimumResolution: Duration { .zero }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { state.withLock { $0.sleepers } }

    /// Waits until the clock has reached a moment; the tolerance is ignored.
    ///
    /// - Throws: `CancellationError` immediately when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await wait(for: .time(deadline))
    }

    /// Waits until a number of tasks sleep, so that a test advances the clock only when there are tasks to resume.
    ///
    /// - Throws: `CancellationError` immediately when the task is cancelled.
    public func waitForSleepers(_ count: Int) async throws { try await wait(for: .sleepers(count)) }

    /// Advances the time, and resumes all tasks whose deadline is reached; negative durations have no effect.
    ///
    /// - Complexity: O(*n* log *n*) in the number of waiting tasks.
    public func advance(by duration: Duration) {
        change { $0.now = $0.now.advanced(by: max(duration, .zero)) }
    }

    /// Advances the time to a moment; a past moment has no effect.
    public func advance(to moment: Instant) { change { $0.now = max($0.now, moment) } }

    /// Advances the time to the next deadline of a sleeper.
    ///
    /// - Returns: Whether there was a sleeper.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        change { state in
            guard let next = state.waiters.compactMap(\.deadline).min() else { return false }
            state.now = max(state.now, next)
            return true
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, woken) = state.withLock { state in (body(&state), state.dequeueFulfilled()) }
        for waiter in woken { waiter.continuation.resume() }
        return result
    }

    /// Waits for a condition; the task may be cancelled before, during or after that.
    private func wait(for wish: Wish) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = change { state in
                    if state.cancelled.contains(number) { return true }
                    state.waiters.append(Waiter(number: number, wish: wish, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        let waiter = state.withLock { state in
            state.cancelled.insert(number)
            let index = state.waiters.firstIndex { $0.number == number }
            return index.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
