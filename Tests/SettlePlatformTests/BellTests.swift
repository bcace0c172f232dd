import SettlePlatform
import Testing

@Suite(.timeLimit(.minutes(5))) struct BellTests {
    @Test func `a ring between the look and the wait is not lost`() async {
        let bell = Bell()
        let seen = bell.position
        bell.ring()
        #expect(await bell.wait(after: seen))
        #expect(bell.position == seen + 1)
    }

    @Test func `every waiter is called at the next ring, once`() {
        let (bell, calls) = (Bell(), Guarded<[Bool]>([]))
        for _ in 0..<3 { bell.whenRung(after: 0) { isRung in calls.withLock { $0.append(isRung) } } }
        #expect(calls.withLock { $0 } == [])
        bell.ring()
        bell.ring()
        #expect(calls.withLock { $0 } == [true, true, true])
    }

    @Test func `positions only grow, and a ring at an old one still wakes`() {
        let (bell, calls) = (Bell(), Guarded<[Bool]>([]))
        bell.ring(at: 7)
        bell.whenRung(after: 7) { isRung in calls.withLock { $0.append(isRung) } }
        #expect(calls.withLock { $0 } == [])
        bell.ring(at: 5)
        #expect(calls.withLock { $0 } == [true])
        #expect(bell.position == 7)
        bell.whenRung(after: 6) { isRung in calls.withLock { $0.append(isRung) } }
        #expect(calls.withLock { $0 } == [true, true])
    }

    @Test func `a cancelled closure is called with false, once`() {
        let (bell, calls) = (Bell(), Guarded<[Bool]>([]))
        let number = bell.whenRung(after: 0) { isRung in calls.withLock { $0.append(isRung) } }
        #expect(bell.cancel(number))
        #expect(!bell.cancel(number))
        bell.ring()
        #expect(calls.withLock { $0 } == [false])
    }

    @Test func `the end wakes all, and every later wait ends at once`() async {
        let (bell, calls) = (Bell(), Guarded<[Bool]>([]))
        bell.whenRung(after: 0) { isRung in calls.withLock { $0.append(isRung) } }
        #expect(bell.waiterCount == 1)
        bell.end()
        #expect(bell.waiterCount == 0)
        bell.whenRung(after: -1) { isRung in calls.withLock { $0.append(isRung) } }
        #expect(calls.withLock { $0 } == [false, false])
        #expect(bell.hasEnded)
        #expect(await !bell.wait(after: -1))
        await bell.waitForEnd()
    }

    @Test func `a task that waits for the end sleeps through rings`() async {
        let (bell, hasEnded) = (Bell(), Guarded(false))
        let task = Task {
            await bell.waitForEnd()
            return hasEnded.withLock { $0 }
        }
        for _ in 0..<10 {
            bell.ring()
            await Task.yield()
        }
        hasEnded.withLock { $0 = true }
        bell.end()
        #expect(await task.value)
    }

    @Test func `a cancelled task waits no longer, for a ring or for the end`() async {
        let bell = Bell()
        let ring = Task { await bell.wait(after: 0) }
        let end = Task { await bell.waitForEnd() }
        ring.cancel()
        end.cancel()
        #expect(await !ring.value)
        await end.value
        #expect(!bell.hasEnded)
    }

    @Test func `a wait ends at its deadline`() async {
        let bell = Bell()
        #expect(await !bell.wait(after: 0, until: .now + .milliseconds(1)))
        #expect(await !bell.wait(after: 0, until: .now - .seconds(1)))
        bell.ring()
        #expect(await bell.wait(after: 0, until: .now + .seconds(60)))
    }

    @Test func `tasks that look and wait see everything that threads change`() async throws {
        let (bell, count, rings) = (Bell(), Guarded(0), 2000)
        let threads = try (0..<2).map { _ in
            try SystemThread {
                for _ in 0..<rings {
                    count.withLock { $0 += 1 }
                    bell.ring()
                }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while true {
                        let seen = bell.position
                        if count.withLock({ $0 }) == 2 * rings { return }
                        await bell.wait(after: seen)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(bell.position == Int64(2 * rings))
    }
}
