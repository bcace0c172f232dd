import Testing

@testable import SettleDatabase

/// Every order of arrivals, endings, failures and closing, for up to four writers.
@Suite struct GroupCommitTests {
    @Test(arguments: [1, 2, 256])
    func `every writer is woken once with its own outcome, in every interleaving of four`(largestBatch: Int) {
        var seen: Set<String> = []
        var problems: Set<String> = []
        var next = [GroupCommitWorld(largestBatch: largestBatch)]
        while let world = next.popLast() {
            guard seen.insert(world.key).inserted else { continue }
            problems.formUnion(world.found)
            for event in world.events(writers: 4) { next.append(world.after(event)) }
        }
        #expect(problems == [])
        #expect(seen.count > 10_000)
    }

    private func outcomes(_ events: [GroupCommit<Int>.Event]) -> GroupCommitWorld {
        events.reduce(GroupCommitWorld(largestBatch: 256)) { $0.after($1) }
    }

    /// Three writers that have arrived, of which the first and the second have written.
    private let shared: [GroupCommit<Int>.Event] = [
        .arrived(0, alone: false), .arrived(1, alone: false), .arrived(2, alone: false), .wrote(.kept), .wrote(.kept),
    ]

    @Test func `one commit wakes all writers that share it`() {
        #expect(outcomes(shared).woken.isEmpty)
        #expect(outcomes(shared + [.wrote(.kept), .committed]).woken == [0: .done, 1: .done, 2: .done])
    }

    @Test func `a commit that fails reaches every writer in it`() {
        let woken = outcomes(shared + [.wrote(.kept), .commitFailed, .rolledBack]).woken
        #expect(woken == [0: .lost, 1: .lost, 2: .lost])
    }

    @Test func `a writer whose savepoint fails is the only one to fail`() {
        let world = outcomes(shared + [.wrote(.failed), .committed])
        #expect(world.woken == [0: .done, 1: .done, 2: .failed])
        #expect(world.durable == [0, 1])
    }

    @Test func `a transaction that the storage rolled back fails for all its writers`() {
        #expect(outcomes(shared + [.wrote(.lost), .rolledBack]).woken == [0: .lost, 1: .lost, 2: .failed])
    }

    @Test func `a commit has no more bytes than allowed, unless one writer has more`() {
        let bytes = [30, 6, 4, 1]
        let events = bytes.indices.map { GroupCommit<Int>.Event.arrived($0, alone: false, bytes: bytes[$0]) }
        func open(after more: [GroupCommit<Int>.Event]) -> [Int]? {
            let world = (events + more).reduce(GroupCommitWorld(largestBatch: 256, maximumBytes: 10)) { $0.after($1) }
            guard case .commit? = world.doing else { return nil }
            return world.open
        }
        let first: [GroupCommit<Int>.Event] = [.wrote(.kept)]
        #expect(open(after: first) == [0])
        #expect(open(after: first + [.committed, .wrote(.kept)]) == nil)
        #expect(open(after: first + [.committed, .wrote(.kept), .wrote(.kept)]) == [1, 2])
    }

    @Test func `writers that keep failing do not put off the commit of one before them`() {
        let arrivals = (0..<4).map { GroupCommit<Int>.Event.arrived($0, alone: false) }
        let events: [GroupCommit<Int>.Event] = arrivals + [.wrote(.kept), .wrote(.failed)]
        let world = events.reduce(GroupCommitWorld(largestBatch: 2)) { $0.after($1) }
        let isCommitting = if case .commit? = world.doing { true } else { false }
        #expect(isCommitting && world.open == [0] && world.woken == [1: .failed])
    }

    @Test func `closing commits the writes made so far and runs no more`() {
        let world = outcomes(Array(shared.dropLast()) + [.closing(90), .wrote(.kept), .committed, .closed])
        #expect(world.woken == [0: .done, 1: .done, 2: .closed, 90: .done])
        #expect(world.isClosed)
    }
}
