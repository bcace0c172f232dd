import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct SettleAllTests {
    // SEMANTICS 85
    @Test(arguments: Kinds.all)
    func `a sweep continues past failures and counts everything`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind, options: .quiet) { database in
            for number in 0..<9 { try database.makeConflict(DocumentID(validating: "d\(number)")) }
            let progress = Log<Int>()
            let report = try database.settleAll(
                using: .custom("thirds") { conflict in
                    switch (Int(conflict.documentID.string.dropFirst()) ?? 0) % 3 {
                    case 0: throw Nonsense()
                    case 1: return .leaveConflicted
                    default: return .document(conflict.winner)
                    }
                }, progress: { progress.add($0.completed) })
            #expect((report.settled, report.left, report.failed, report.total) == (3, 3, 3, 9))
            #expect(report.failures.map(\.documentID) == ["d0", "d3", "d6"])
            #expect(report.revisionsWritten == 3)
            #expect(progress.values == Array(1...9))
            #expect(try database.conflictedDocumentIDs().count == 6)
            #expect(try database.problems() == [])
        }
    }

    @Test func `a sweep can be stopped, and settled conflicts stay settled`() throws {
        try withTemporaryDatabase(.plain) { database in
            for number in 0..<4 { try database.makeConflict(DocumentID(validating: "d\(number)")) }
            #expect(throws: Nonsense.self) {
                try database.settleAll(using: .mostRevisions) { if $0.completed == 2 { throw Nonsense() } }
            }
            #expect(try database.conflictedDocumentIDs() == ["d2", "d3"])
        }
    }

    @Test func `a policy that decides deletions sweeps both kinds of conflict`() throws {
        try withTwoDatabases { first, second in
            try first.add("deleted")
            try second.pull(from: first)
            try second.delete("deleted")
            try first.set("deleted", "v", 2)
            try first.makeConflict("branches")
            try first.pull(from: second)
            #expect(try first.settleAll(using: .mostRevisions).total == 1)
            #expect(try first.settleAll(using: .deletesWin).settled == 1)
            #expect(try first.document("deleted") == nil)
            #expect(try first.document("branches") != nil)
        }
    }

    // SEMANTICS 38
    @Test func `several documents are settled concurrently`() async throws {
        let database = try Database.plain()
        for number in 0..<6 { try database.makeConflict(DocumentID(validating: "d\(number)")) }
        let running = Log<Int>()
        let barrier = Barrier(count: 3)
        let report = try await database.settleAll(
            asking: .asking("together") { conflict in
                running.add(1)
                await barrier.pass()
                return .document(conflict.winner)
            }, atOnce: 3)
        #expect(report.settled == 6)
        #expect(running.values.count == 6)
    }

    @Test func `a policy that waits can't be used in a synchronous call`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            #expect(code { try database.settle("a", using: .asking("someone") { _ in .delete }) } == .invalid)
            #expect(try database.conflictedDocumentIDs() == ["a"])
        }
    }

    // SEMANTICS 44
    @Test func `a resolver that exceeds the time limit leaves the conflict, even if it never returns`() async throws {
        let database = try Database.plain(options: .quiet)
        try database.makeConflict("a")
        let forever = Barrier(count: 2)
        var policy = ConflictPolicy.asking("nobody") { conflict in
            await forever.pass()
            return .document(conflict.winner)
        }
        policy.timeLimit = .milliseconds(20)
        do {
            try await database.settle("a", asking: policy)
            Issue.record("the conflict was settled")
        } catch let error as DatabaseError { #expect(error.code == .timedOut) }
        #expect(try database.conflictedDocumentIDs() == ["a"])
        await forever.open()
    }
}
