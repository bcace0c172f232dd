import Foundation
import PostgresTesting
import Settle
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// Compaction that keeps losing contents for a while.
@Suite struct ContentRetentionTests {
    private static let day: Int64 = 86_400_000
    private let time = Guarded<Int64>(1_700_000_000_000)

    private func database() throws -> Database {
        var options = DatabaseOptions()
        let time = time
        options.now = { Date(milliseconds: time.withLock { $0 }) }
        return try Database.plain(options: options)
    }

    private func pass(_ days: Int64) { time.withLock { $0 += days * Self.day } }

    private func write(_ database: Database, _ number: Int) throws -> RevisionID {
        let saved = try database.save(
            Document(id: "a", body: ["n": .number(JSONNumber(number))]), onConflict: .lastWriteWins)
        return try #require(saved.revision)
    }

    private func isKept(_ revision: RevisionID, _ database: Database) throws -> Bool {
        try database.document("a", revision: revision) != nil
    }

    // SEMANTICS K4
    @Test func `old contents are kept for their age, counted from the revision that superseded them`() throws {
        let database = try database()
        let first = try write(database, 1)
        let second = try write(database, 2)
        #expect(try database.compact(keepingOldContentsFor: .seconds(86_400)).contents == 0)
        let third = try write(database, 3)
        pass(2)
        // The second one was superseded after the last compaction.
        #expect(try database.compact(keepingOldContentsFor: .seconds(86_400)).contents == 0)
        #expect(try isKept(first, database) && isKept(second, database) && isKept(third, database))
        pass(2)
        #expect(try database.compact(keepingOldContentsFor: .seconds(86_400)).contents == 2)
        #expect(try !isKept(first, database) && !isKept(second, database) && isKept(third, database))
        #expect(try database.verify().problems == [])
    }

    @Test(arguments: [
        Duration.seconds(Int64.max) + .seconds(Int64.max), .seconds(Int64.max / 1000) + .milliseconds(999),
        .seconds(Int64.min),
    ])
    func `contents are kept for an age of any length`(age: Duration) throws {
        let database = try database()
        let first = try write(database, 1)
        _ = try write(database, 2)
        for _ in 0..<2 {
            try database.compact(keepingOldContentsFor: age)
            pass(1)
        }
        #expect(try isKept(first, database) == (age > .zero))
    }

    // SEMANTICS K4
    @Test func `the body of a branch that lost is kept for its age after settling`() throws {
        let database = try database()
        for name in ["aa", "ab"] {
            let history = try RevisionHistory(start: 1, signatures: [#require(RevisionSignature(name))])
            try database.insertReplicated([
                ReplicatedRevision(id: "a", history: history, body: DocumentBody(["by": .string(name)]))
            ])
        }
        let loser = try #require(RevisionID("1-aa"))
        try database.compact(keepingOldContentsFor: .seconds(86_400))
        pass(5)
        try database.settle("a", using: .mostRevisions)
        #expect(try database.leaves(of: "a").filter { !$0.isDeleted }.count == 1)
        // Until a peer has the settlement, the body is a merge base and always stays.
        try database.markShared(database.leaves(of: "a").map { ("a", try #require($0.revision)) })
        for _ in 0..<2 {
            try database.compact(keepingOldContentsFor: .seconds(86_400))
            #expect(try isKept(loser, database))
        }
        pass(2)
        try database.compact(keepingOldContentsFor: .seconds(86_400))
        #expect(try !isKept(loser, database))
        #expect(try database.verify().problems == [])
    }

    @Test func `a content is not mistaken for an older one with the same token`() throws {
        let database = try database()
        _ = try write(database, 1)
        _ = try write(database, 2)
        try database.compact(keepingOldContentsFor: .seconds(86_400))
        pass(2)
        // All separately stored contents are removed, and with them their numbers.
        try database.purge("a")
        let first = try write(database, 3)
        _ = try write(database, 4)
        try database.compact(keepingOldContentsFor: .seconds(86_400))
        #expect(try isKept(first, database))
    }

    @Test func `without an age no old content is kept`() throws {
        let database = try database()
        let first = try write(database, 1)
        _ = try write(database, 2)
        try database.compact(keepingOldContentsFor: .seconds(86_400))
        #expect(try database.compact().contents == 1)
        #expect(try !isKept(first, database))
    }
}
