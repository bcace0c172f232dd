import SettlePlatform
import Testing

@Suite(.timeLimit(.minutes(5))) struct PromiseTests {
    @Test func `the first value counts`() {
        let promise = Promise<Int>()
        #expect(promise.value == nil)
        #expect(promise.fulfil(1))
        #expect(!promise.fulfil(2))
        #expect(promise.value == 1)
    }

    @Test func `a closure is called once, whether it comes before the value or after it`() {
        let (promise, seen) = (Promise<Int>(), Guarded<[Int]>([]))
        promise.whenFulfilled { value in seen.withLock { $0.append(value) } }
        promise.whenFulfilled { value in seen.withLock { $0.append(value * 10) } }
        #expect(seen.withLock { $0 } == [])
        promise.fulfil(1)
        promise.fulfil(2)
        promise.whenFulfilled { value in seen.withLock { $0.append(value * 100) } }
        #expect(seen.withLock { $0 } == [1, 10, 100])
    }

    @Test func `a closure may use the promise that calls it`() {
        let (promise, seen) = (Promise<Int>(), Promise<Int?>())
        promise.whenFulfilled { _ in
            promise.fulfil(2)
            seen.fulfil(promise.value)
        }
        promise.fulfil(1)
        #expect(seen.value == 1)
    }

    @Test func `a mapped promise has the changed value`() {
        let promise = Promise<Int>()
        let text = promise.map { "\($0)" }
        #expect(text.value == nil)
        promise.fulfil(7)
        #expect(text.value == "7")
    }

    @Test func `every thread that waits gets the value`() throws {
        let (promise, values) = (Promise<Int>(), Guarded<[Int]>([]))
        let threads = try (0..<8).map { _ in
            try SystemThread {
                let value = promise.wait()
                values.withLock { $0.append(value) }
            }
        }
        promise.fulfil(3)
        for thread in threads { thread.join() }
        #expect(values.withLock { $0 } == Array(repeating: 3, count: 8))
    }

    @Test func `a thread waits up to its time limit, and can wait again`() throws {
        let promise = Promise<Int>()
        #expect(promise.wait(seconds: 0) == nil)
        #expect(promise.wait(seconds: 0.001) == nil)
        let thread = try SystemThread { promise.fulfil(4) }
        #expect(promise.wait(seconds: 300) == 4)
        thread.join()
        #expect(promise.wait() == 4)
    }

    @Test func `of threads that race to fulfil it one wins, and all who wait see its value`() throws {
        for _ in 0..<200 {
            let (promise, winners) = (Promise<Int>(), Guarded<[Int]>([]))
            let seen = promise.map { $0 }
            let threads = try (0..<4).map { number in
                try SystemThread { if promise.fulfil(number) { winners.withLock { $0.append(number) } } }
            }
            let value = promise.wait()
            for thread in threads { thread.join() }
            #expect(winners.withLock { $0 } == [value])
            #expect(seen.value == value)
        }
    }

    @Test func `tasks that wait before and after the value get it`() async {
        let promise = Promise<Int>()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { await promise.get() } }
            promise.fulfil(5)
            for await value in group { #expect(value == 5) }
        }
        #expect(await promise.get() == 5)
    }

    @Test func `a task that is cancelled fulfils it, unless it has a value`() async {
        let promise = Promise<Int>()
        let task = Task { await promise.get(ifCancelled: -1) }
        task.cancel()
        #expect(await task.value == -1)
        #expect(promise.value == -1)

        let other = Promise<Int>()
        other.fulfil(6)
        let late = Task { await other.get(ifCancelled: -1) }
        late.cancel()
        #expect(await late.value == 6)
    }
}
