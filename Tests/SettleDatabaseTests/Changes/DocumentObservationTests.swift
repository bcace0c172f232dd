import PostgresTesting
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite(.timeLimit(.minutes(5))) struct DocumentObservationTests {
    @Test(arguments: Kinds.all)
    func `a document is delivered as it is, and then at each change of its winner`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        var states = database.observe("a").makeAsyncIterator()
        #expect(try await states.next() == .some(nil))
        let added = try database.add("a")
        #expect(try await states.next() == .some(added))
        try database.add("other")
        try database.insertReplicated([peer("a", try path("1-0"))])
        let changed = try database.set("a", "v", 2)
        #expect(try await states.next() == .some(changed))
        try database.delete(changed, onConflict: .fail)
        #expect(try await states.next()??.revision?.description == "1-0")
        try database.purge("a")
        #expect(try await states.next() == .some(nil))
    }

    @Test(arguments: Kinds.all)
    func `a slow observer gets the newest state`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        var states = database.observe("a").makeAsyncIterator()
        _ = try await states.next()
        for number in 1...10 { try database.set("a", "v", .number(JSONNumber(number))) }
        #expect(try await states.next()??["v"] == 10)
    }

    @Test func `cancelling ends the observation`() async throws {
        let temporary = try TemporaryDatabase(.plain)
        let observation = temporary.database.observe("a")
        let task = Task {
            var seen = 0
            for try await _ in observation { seen += 1 }
            return seen
        }
        await eventually("the observer waits") { temporary.database.changeBell.waiterCount == 1 }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test func `a waiting observer keeps waiting, after a purge too`() async throws {
        let engine = CountingEngine(try SQLiteStorage.inMemory())
        let database = try Database.make(on: engine)
        try database.add("b")
        let observation = database.observe("a")
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
