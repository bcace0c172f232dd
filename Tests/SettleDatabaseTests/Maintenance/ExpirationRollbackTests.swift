import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct ExpirationRollbackTests {
    private struct OnPurpose: Error {}

    @Test func `an expiration postponed in a transaction that failed still applies`() async throws {
        let kept = try TemporaryDatabase(.file)
        let database = kept.database
        try database.save(Document(id: "x"), onConflict: .fail)
        try database.setExpiration(of: "x", at: Date(timeIntervalSinceNow: 0.3))
        let error = #expect(throws: (any Error).self) {
            try database.transaction {
                try database.setExpiration(of: "x", at: nil)
                throw OnPurpose()
            }
        }
        // On a busy machine it has expired already.
        #expect(error is OnPurpose || (error as? DatabaseError)?.code == .notFound)
        waitUntil { try database.document("x") == nil }
        #expect(try database.document("x") == nil)
    }

    @Test func `an earlier date comes first, whatever was set before`() async throws {
        let kept = try TemporaryDatabase(.plain)
        let database = kept.database
        for id: DocumentID in ["late", "soon"] { try database.save(Document(id: id), onConflict: .fail) }
        try database.setExpiration(of: "late", at: Date(timeIntervalSinceNow: 3600))
        try database.setExpiration(of: "soon", at: Date(timeIntervalSinceNow: 0.2))
        waitUntil { try database.document("soon") == nil }
        #expect(try database.document("soon") == nil)
        #expect(try database.document("late") != nil)
    }

    @Test func `a reader count of zero counts as one`() throws {
        let folder = try TemporaryFolder()
        var options = DatabaseOptions()
        options.readers = 0
        let database = try Database.create(folder("x.settle"), options: options)
        try database.save(Document(id: "a"), onConflict: .fail)
        #expect(try database.document("a") != nil)
        database.close()
    }

    @Test func `two folders with similar names are two databases`() throws {
        let folder = try TemporaryFolder()
        let one = try Database.create(folder("caf\u{E9}.settle"))
        let two = try Database.create(folder("cafe\u{301}.settle"))
        #expect(one !== two)
        try one.save(Document(id: "a"), onConflict: .fail)
        #expect(try two.document("a") == nil)
        one.close()
        two.close()
    }
}
