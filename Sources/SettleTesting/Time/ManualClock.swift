internal import SettleDatabase

/// A clock that stands still until it is told to go on.
///
///     let clock = ManualClock()
///     let task = Task { try await clock.sleep(for: .seconds(60)) }
///     await clock.waitForSleepers(1)
///     clock.advance(by: .seconds(60))
public final class ManualClock: Clock {
    /// A time of the clock.
    public struct Instant: InstantProtocol {
        /// How long after the clock's beginning it is.
        public let offset: Duration

        /// The time so much later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// How much later another time is.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Orders by time.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var next = 0
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    /// Makes a clock that stands at its beginning.
    public init() {}

    /// The time now.
    public var now: Instant { state.withLock(\.now) }

    /// The smallest step; there is none.
    public var minimumResolution: Duration { .zero }

    /// Goes on, and wakes those whose time has come.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.until < $1.until }.map(\.continuation)
        }
        for continuation in woken { continuation.resume(returning: true) }
    }

    /// Waits until at least so many sleep.
    public func waitForSleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Sleeps until the clock was advanced to a time.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, watchers) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                    if Task.isCancelled { return (false, []) }
                    if deadline <= state.now { return (true, []) }
                    state.sleepers[number] = (deadline, continuation)
                    let ready = state.watchers.filter { $0.count <= state.sleepers.count }.map(\.continuation)
                    state.watchers.removeAll { $0.count <= state.sleepers.count }
                    return (nil, ready)
                }
                if let answer { continuation.resume(returning: answer) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(returning: false)
        }
        if !isDue { throw CancellationError() }
    }
}
