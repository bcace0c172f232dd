import PostgresTesting
import Settle
import SettleTesting
import Testing

/// A resolver's failure affects only its conflict.
@Suite struct ResolverFailureTests {
    @Test func `a not-found error of a resolver is a failure of that conflict`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.makeConflict("d")
            let report = try database.settleAll(
                using: .custom("deletes a helper") { conflict in
                    try database.delete("helper")
                    return .document(conflict.winner)
                })
            #expect(report.failed == 1)
            #expect(report.gone == 0)
            #expect(report.failures.map(\.error.code) == [.resolverFailed])
        }
    }

    @Test func `a resolver that uses another, closed database does not stop a sweep`() throws {
        try withDatabases(2) { databases in
            let (database, other) = (databases[0], databases[1])
            for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
            other.close()
            let policy = ConflictPolicy.custom("looks elsewhere over a") { conflict in
                if conflict.documentID == "a" { _ = try other.document("x") }
                return .document(conflict.winner)
            }
            #expect(code { try database.settleAll(using: policy) } == nil)
            #expect(try database.conflictedDocumentIDs() == ["a"])
        }
    }

    @Test func `a resolver that throws CancellationError does not stop a sweep`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
            let policy = ConflictPolicy.custom("cancelled inside over a") { conflict in
                if conflict.documentID == "a" { throw CancellationError() }
                return .document(conflict.winner)
            }
            #expect(code { try database.settleAll(using: policy) } == nil)
            #expect(try database.conflictedDocumentIDs() == ["a"])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `automatic settling survives a resolver's CancellationError, or reports its end`() async throws {
        let seen = Seen()
        let database = try Database.plain(options: options(noting: seen))
        for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
        let settling = database.settleAutomatically(
            using: .asking("cancelled inside over a") { conflict in
                if conflict.documentID == "a" { throw CancellationError() }
                return .document(conflict.winner)
            })
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs() == ["a"])
        await settling.stop()
        var events = 0
        for await _ in settling.events { events += 1 }
        #expect(events == 2)
        #expect(!seen.all.isEmpty)
    }

    @Test func `the purity of a policy inside deletes-win is checked`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.makeConflict("d")
            let asked = Seen()
            var policy = ConflictPolicy.custom("counts") { _ in
                asked.note("asked")
                return .merged(["n": .number(JSONNumber(asked.all.count % 2))], attachments: [])
            }
            policy.checksPurity = true
            let settlement = try database.settle("d", using: .deletesWin(otherwise: policy))
            #expect(settlement.warnings.contains { $0.contains("answered differently") })
            #expect(asked.all.count == 2)
        }
    }

    @Test func `the purity of policies that wait is checked`() async throws {
        let database = try Database.plain(options: .quiet)
        try database.makeConflict("d")
        let asked = Seen()
        var policy = ConflictPolicy.asking("counts") { _ in
            asked.note("asked")
            return .merged(["n": .number(JSONNumber(asked.all.count))], attachments: [])
        }
        policy.checksPurity = true
        let settlement = try await database.settle("d", asking: policy)
        #expect(settlement.warnings.contains { $0.contains("answered differently") })
    }
}
