internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// A clock that stands still until it is told to go on, for tests of what waits.
///
///     let clock = ManualClock()
///     let retry = Task { try await clock.sleep(for: .seconds(30)) }
///     try await clock.waitForSleepers(1)
///     clock.advance(by: .seconds(30))
///     try await retry.value
///
/// Time passes only in ``advance(by:)`` and its kin, on whatever thread calls them; no real time is waited for. Who sleeps
/// is woken when the moment is reached, the earliest first, and those of one moment in the order in which they fell asleep.
/// To be woken means to be ready to go on: when it does so is for Swift's tasks to say, and the clock then shows the
/// time that was advanced to. So a task that sleeps again sleeps from there; ``advanceToNextSleeper()`` goes step by step.
public final class ManualClock: Clock {
    /// A moment, as the time since the clock's beginning.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// How long after the beginning it is.
        public let offset: Duration

        /// Makes a moment.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// The moment so much later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// How long it is to another moment.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether a moment is before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }

        /// The time since the beginning.
        public var description: String { "\(offset)" }
    }

    /// What somebody waits for.
    private enum Wish {
        case time(Instant)
        case sleepers(Int)
    }

    private struct Waiter {
        let number: Int
        let wish: Wish
        let continuation: CheckedContinuation<Void, any Error>

        /// When a sleeper wants to be woken.
        var deadline: Instant? { if case .time(let deadline) = wish { deadline } else { nil } }
    }

    private struct State {
        var now = Instant()
        var next = 0
        /// In the order in which they came.
        var waiters: [Waiter] = []
        /// Those cancelled before they waited.
        var cancelled: Set<Int> = []

        var sleepers: Int { waiters.count { $0.deadline != nil } }

        func isFulfilled(_ wish: Wish) -> Bool {
            switch wish {
            case .time(let deadline): deadline <= now
            case .sleepers(let count): sleepers >= count
            }
        }

        /// Takes out all who need not wait any more: the sleepers first, by their moments.
        mutating func takeFulfilled() -> [Waiter] {
            // What sleepers make true counts before they are woken.
            let fulfilled = waiters.filter { isFulfilled($0.wish) }
            let numbers = Set(fulfilled.map(\.number))
            waiters.removeAll { numbers.contains($0.number) }
            let watchers = fulfilled.filter { $0.deadline == nil }
            let sleepers = fulfilled.compactMap { waiter in waiter.deadline.map { (waiter, $0) } }
            return sleepers.sorted { ($0.1, $0.0.number) < ($1.1, $1.0.number) }.map(\.0) + watchers
        }
    }

    private let state = Guarded(State())

    /// Makes a clock at its beginning.
    public init() {}

    /// The time that was advanced to.
    public var now: Instant { state.withLock { $0.now } }

    /// There is none: every moment can be told from every other.
    public var minimumResolution: Duration { .zero }

    /// How many are asleep.
    public var sleeperCount: Int { state.withLock { $0.sleepers } }

    /// Waits until the clock has reached a moment; the tolerance does not matter.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await wait(for: .time(deadline))
    }

    /// Waits until so many are asleep, so that a test advances the clock only when there is somebody to wake.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, at once.
    public func waitForSleepers(_ count: Int) async throws { try await wait(for: .sleepers(count)) }

    /// Lets time pass, and wakes all whose moment is reached; less than nothing does not pass.
    ///
    /// - Complexity: O(*n* log *n*) in those who wait.
    public func advance(by duration: Duration) {
        change { $0.now = $0.now.advanced(by: max(duration, .zero)) }
    }

    /// Lets time pass up to a moment; to one that is over nothing happens.
    public func advance(to moment: Instant) { change { $0.now = max($0.now, moment) } }

    /// Lets time pass until somebody is woken.
    ///
    /// - Returns: Whether somebody was asleep.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        change { state in
            guard let next = state.waiters.compactMap(\.deadline).min() else { return false }
            state.now = max(state.now, next)
            return true
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, woken) = state.withLock { state in (body(&state), state.takeFulfilled()) }
        for waiter in woken { waiter.continuation.resume() }
        return result
    }

    /// Waits for something; a cancellation may come before that, meanwhile, or after.
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
