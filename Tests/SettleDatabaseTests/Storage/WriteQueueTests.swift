import Dispatch
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite(.timeLimit(.minutes(5))) struct WriteQueueTests {
    /// A storage whose transactions are lists of numbers.
    private final class NumberStorage: QueuedStorage {
        let open = Guarded<[Int]>([])
        let commits = Guarded<[[Int]]>([])
        var hasTransaction: Bool { true }

        func run(_ place: WritePlace, _ body: () throws -> Void) throws { try body() }
        func commitTransaction() { commits.withLock { $0.append(drain()) } }
        func rollBackTransaction() { _ = drain() }
        func closeConnection() {}

        private func drain() -> [Int] {
            open.withLock { numbers in
                defer { numbers = [] }
                return numbers
            }
        }
    }

    private let queue = WriteQueue(largestBatch: 256)
    private let storage = NumberStorage()

    private func write(_ number: Int) throws {
        let job: WriteTurn.Job = { [storage] in storage.open.withLock { $0.append(number) } }
        try queue.run(WriteTurn(job: job), on: storage, job)
    }

    @Test func `the jobs of writers that wait share a commit`() throws {
        let failures = Log<String>()
        onThreads(5) { number in
            do {
                guard number == 0 else {
                    waitUntil { !storage.open.withLock(\.isEmpty) }
                    return try write(number)
                }
                try queue.run(WriteTurn(), on: storage) {
                    storage.open.withLock { $0.append(number) }
                    waitUntil { queue.waitingCount == 4 }
                }
            } catch { failures.add("\(error)") }
        }
        #expect(failures.values == [])
        let commits = storage.commits.withLock(\.self)
        #expect(commits.count == 1 && commits.first?.first == 0 && commits.first.map(Set.init) == Set(0..<5))
    }

    @Test func `writers that wait can be refused, and the queue goes on`() throws {
        let refused = Log<Int>()
        onThreads(3) { number in
            do {
                guard number == 0 else {
                    waitUntil { !storage.open.withLock(\.isEmpty) }
                    return try write(number)
                }
                try queue.run(WriteTurn(), on: storage) {
                    storage.open.withLock { $0.append(number) }
                    waitUntil { queue.waitingCount == 2 }
                    queue.refuseWaiting(Nonsense())
                }
            } catch {
                #expect(error is Nonsense)
                refused.add(number)
            }
        }
        #expect(Set(refused.values) == [1, 2])
        try write(7)
        #expect(storage.commits.withLock(\.self) == [[0], [7]])
    }

    @Test func `a write is released once it is committed`() throws {
        weak var kept: WriteTurn?
        do {
            let turn = WriteTurn()
            kept = turn
            try queue.run(turn, on: storage) {}
        }
        #expect(kept == nil)
    }
}
