import Foundation
import PostgresTesting
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite(.timeLimit(.minutes(5))) struct ChangeObservationTests {
    @Test(arguments: Kinds.all)
    func `committed changes are delivered in order`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        try database.add("before")
        var changes = try database.observe(includingDocuments: true).makeAsyncIterator()
        try database.add("a")
        try database.add("b")
        let first = try await changes.next()
        #expect(first?.id == "a")
        #expect(first?.document?["v"] == 1)
        #expect(try await changes.next()?.id == "b")
        try database.set("a", "v", 2)
        #expect(try await changes.next()?.winner.generation == 2)
        var all = try database.observe(since: 0).makeAsyncIterator()
        #expect(try await all.next()?.id == "before")
    }

    @Test(arguments: Kinds.all)
    func `a document changed often between two reads is delivered once`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        var changes = try database.observe().makeAsyncIterator()
        for number in 1...20 { try database.set("a", "v", .number(JSONNumber(number))) }
        try database.add("b")
        let first = try await changes.next()
        #expect(first?.id == "a")
        #expect(first?.winner.generation == 20)
        #expect(try await changes.next()?.id == "b")
    }

    @Test(arguments: Kinds.all)
    func `a predicate selects changes`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        let chosen = try database.observe(includingDocuments: true) { $0.document?["type"] == "task" }
        var changes = chosen.makeAsyncIterator()
        try database.add("a", ["type": "note"])
        try database.add("b", ["type": "task"])
        #expect(try await changes.next()?.id == "b")
    }

    @Test(arguments: Kinds.all)
    func `a change that was rolled back is never delivered`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        var changes = try database.observe().makeAsyncIterator()
        try? database.transaction {
            try database.add("undone")
            throw Nonsense()
        }
        try database.transaction {
            try database.add("x")
            try? database.transaction {
                try database.add("inner")
                throw Nonsense()
            }
        }
        #expect(try await changes.next()?.id == "x")
    }

    @Test(arguments: Kinds.all)
    func `cancelling ends a waiting observation`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let observation = try temporary.database.observe()
        let task = Task {
            var seen = 0
            for try await _ in observation { seen += 1 }
            return seen
        }
        await eventually("the observer waits") { temporary.database.changeBell.waiterCount == 1 }
        task.cancel()
        #expect(try await task.value == 0)
    }

    @Test(arguments: Kinds.all)
    func `closing ends observations of every kind`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        let (all, one) = (try database.observe(), database.observe("a"))
        let changes = Task { for try await _ in all {} }
        let documents = Task {
            var seen = 0
            for try await _ in one { seen += 1 }
            return seen
        }
        await eventually("both observers wait") { database.changeBell.waiterCount == 2 }
        database.close()
        try await changes.value
        #expect(try await documents.value == 1)
    }

    @Test(arguments: Kinds.all)
    func `nothing is missed while four threads write`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        let observation = try database.observe()
        let reader = Task {
            var newest: [DocumentID: UInt64] = [:]
            var last: UpdateSequence = 0
            for try await change in observation {
                #expect(change.sequence > last)
                last = change.sequence
                newest[change.id] = change.winner.generation
                if newest.count == 100, newest.values.allSatisfy({ $0 == 5 }) { break }
            }
            return newest.count
        }
        onThreads(4) { thread in
            for round in 1...5 {
                for number in 0..<25 {
                    _ = try? database.set(
                        DocumentID(validating: "\(thread).\(number)"), "v", .number(JSONNumber(round)))
                }
            }
        }
        #expect(try await reader.value == 100)
    }

    @Test func `an observer that has seen all changes waits, after a purge too`() async throws {
        let engine = CountingEngine(try SQLiteStorage.inMemory())
        let database = try Database.make(on: engine)
        try database.add("a")
        try database.add("b")
        let observation = try database.observe()
        let task = Task { for try await _ in observation {} }
        try database.purge("b")
        // While the other database is written to, an observer that does not wait reads again and again.
        try withTemporaryDatabase(.file) { other in
            for number in 0..<300 { try other.add(DocumentID(validating: "d\(number)")) }
        }
        #expect(engine.reads < 20)
        task.cancel()
        try await task.value
    }
}
