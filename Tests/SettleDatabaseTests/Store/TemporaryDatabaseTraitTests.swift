import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

/// The trait that gives a test its database.
@Suite(.database) struct TemporaryDatabaseTraitTests {
    private let atStart: Int

    init() throws { atStart = try Database.current.info().documents.live }

    @Test(arguments: 1...8)
    func `each case has an empty database of its own`(number: Int) async throws {
        #expect(atStart == 0)
        let database = try Database.current
        try database.save(Document(id: "a", body: ["n": .number(JSONNumber(number))]))
        await Task.yield()
        #expect(try Database.current === database)
        #expect(try Database.current.document("a")?["n"]?.int == number)
        #expect(try database.info().documents.live == 1)
    }

    @Test(.database(.file)) func `the trait of a test counts before that of its suite, and it can be reopened`() throws
    {
        let temporary = try TemporaryDatabase.current
        let path = try #require(temporary.database.path)
        try Database.current.save(Document(id: "a"))
        try temporary.reopen()
        #expect(try Database.current.document("a") != nil)
        #expect(try Database.current.path == path)
    }

    @Test func `a task of the test has its database, and a thread of its own has none`() async throws {
        let database = try Database.current
        async let other = Database.current
        #expect(try await other === database)
        let error = await Task.detached { () -> (any Error)? in
            do { _ = try Database.current } catch { return error }
            return nil
        }.value
        #expect((error as? DatabaseError)?.code == .notFound)
    }

    @Test func `the folder of a database is removed after the test, also of one that throws`() async throws {
        struct Stop: Error {}
        let trait: TemporaryDatabaseTrait = .database(.file)
        let path = Guarded<String?>(nil)
        await #expect(throws: Stop.self) {
            try await trait.provideScope(for: #require(Test.current), testCase: Test.Case.current) {
                let database = try Database.current
                path.withLock { $0 = database.path }
                throw Stop()
            }
        }
        let removed = try #require(path.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: removed))
        #expect(try Database.current.path == nil)
    }
}
