import Dispatch
import SettlePlatform
import SettleTesting
import Synchronization
import Testing

/// The clock that the replicator's tests advance manually.
@Suite(.timeLimit(.minutes(5))) struct ManualClockTests {
    private let clock = ManualClock()

    /// Sleeping tasks with the given seconds, started in this order.
    private func sleepers(_ seconds: [Int]) async throws -> [Task<Void, any Error>] {
        var tasks: [Task<Void, any Error>] = []
        for (index, seconds) in seconds.enumerated() {
            let clock = clock
            tasks.append(Task { try await clock.sleep(for: .seconds(seconds)) })
            try await clock.waitForSleepers(index + 1)
        }
        return tasks
    }

    @Test func `time passes only when the test advances it`() {
        #expect(clock.now == ManualClock.Instant())
        clock.advance(by: .seconds(3))
        clock.advance(by: .milliseconds(-5))
        #expect(clock.now.offset == .seconds(3))
        clock.advance(to: ManualClock.Instant(offset: .seconds(2)))
        #expect(clock.now.offset == .seconds(3))
        clock.advance(to: ManualClock.Instant(offset: .seconds(4)))
        #expect(clock.now.offset == .seconds(4))
        #expect(clock.minimumResolution == .zero)
        #expect(ManualClock.Instant().duration(to: clock.now) == .seconds(4))
        #expect(clock.now.advanced(by: .seconds(-1)) < clock.now)
    }

    @Test func `a sleeper is woken when its deadline is reached, not before`() async throws {
        let tasks = try await sleepers([1, 5, 3])
        clock.advance(by: .milliseconds(999))
        #expect(clock.sleeperCount == 3)
        clock.advance(by: .milliseconds(1))
        #expect(clock.sleeperCount == 2)
        try await tasks[0].value
        clock.advance(by: .seconds(10))
        #expect(clock.sleeperCount == 0)
        for task in tasks { try await task.value }
        #expect(clock.now.offset == .seconds(11))
    }

    @Test func `the earliest sleeper is woken first, and those of one deadline in their order`() async throws {
        // All run on one executor that keeps the order in which they were woken.
        let executor = OneByOne()
        let log = WakingLog()
        let clock = clock
        var tasks: [Task<Void, any Error>] = []
        for (index, seconds) in [4, 2, 4, 1, 3, 2].enumerated() {
            tasks.append(
                Task(executorPreference: executor) { @Sendable in
                    try await log.sleep(index, .seconds(seconds), clock)
                })
            try await clock.waitForSleepers(index + 1)
        }
        // A sleeper is counted before its task is suspended; the executor has done that once it runs another task.
        await Task(executorPreference: executor) {}.value
        clock.advance(by: .seconds(100))
        for task in tasks { try await task.value }
        #expect(log.woken == [3, 1, 5, 4, 0, 2])
    }

    @Test func `advancing step by step shows each sleeper its own deadline`() async throws {
        let seen = Mutex<[Duration]>([])
        let clock = clock
        let task = Task {
            for _ in 0..<3 {
                try await clock.sleep(for: .seconds(7))
                seen.withLock { $0.append(clock.now.offset) }
            }
        }
        for _ in 0..<3 {
            try await clock.waitForSleepers(1)
            #expect(clock.advanceToNextSleeper())
        }
        try await task.value
        #expect(seen.withLock { $0 } == [.seconds(7), .seconds(14), .seconds(21)])
        #expect(!clock.advanceToNextSleeper())
    }

    @Test func `a deadline in the past does not sleep`() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: ManualClock.Instant(offset: .seconds(5)))
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
        try await clock.waitForSleepers(0)
        #expect(clock.now.offset == .seconds(5))
    }

    @Test func `a cancelled sleeper is woken at once, and others sleep on`() async throws {
        let tasks = try await sleepers([1, 2, 3])
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .seconds(5))
        try await tasks[0].value
        try await tasks[2].value
        // Too late: it has been woken already.
        tasks[0].cancel()
        try await tasks[0].value
    }

    @Test func `a task that was cancelled before does not sleep`() async throws {
        let clock = clock
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let other = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.waitForSleepers(1)
        }
        await #expect(throws: CancellationError.self) { try await other.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `waiting for sleepers can be cancelled`() async {
        let clock = clock
        let task = Task { try await clock.waitForSleepers(1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `cancelling and waking may race, and each sleeper is woken once`() async throws {
        for _ in 0..<300 {
            let clock = clock
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            let canceller = Task { task.cancel() }
            clock.advance(by: .seconds(1))
            await canceller.value
            clock.advance(by: .seconds(1))
            // It ends in either case; if it had been woken twice, the continuation would trap.
            _ = await task.result
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `it works where any clock is accepted`() async throws {
        func wait(_ clock: some Clock<Duration>) async throws -> Duration {
            try await clock.measure { try await clock.sleep(for: .seconds(2)) }
        }
        let clock = clock
        let task = Task { try await wait(clock) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(9))
        #expect(try await task.value == .seconds(9))
    }
}

/// Records the order in which sleepers were woken.
private final class WakingLog: Sendable {
    private let indices = Mutex<[Int]>([])
    var woken: [Int] { indices.withLock { $0 } }

    func sleep(_ index: Int, _ duration: Duration, _ clock: ManualClock) async throws {
        try await clock.sleep(for: duration)
        indices.withLock { $0.append(index) }
    }
}

/// Runs ready jobs in the order in which they became ready.
private final class OneByOne: TaskExecutor {
    private let queue = DispatchQueue(label: "one by one")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
