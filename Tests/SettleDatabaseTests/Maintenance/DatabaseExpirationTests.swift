import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct DatabaseExpirationTests {
    @Test(arguments: Kinds.all)
    func `expired documents are purged`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let date = Date(timeIntervalSinceNow: 3600)
            for id: DocumentID in ["a", "b", "c"] { try database.add(id) }
            try database.setExpiration(of: "a", at: date)
            try database.setExpiration(of: "b", at: date + 60)
            try database.setExpiration(of: "c", at: date)
            try database.setExpiration(of: "c", at: nil)
            let found = try #require(try database.expiration(of: "a"))
            #expect(abs(found.timeIntervalSince(date)) < 0.002)
            #expect(try database.expiration(of: "c") == nil)
            #expect(try database.purgeExpired() == 0)
            #expect(try database.purgeExpired(at: date + 1) == 1)
            #expect(try database.documents().map(\.id) == ["b", "c"])
            #expect(try database.tree(of: "a") == nil)
            #expect(try database.expiration(of: "a") == nil)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `expired documents are purged once inside a snapshot`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let date = Date(timeIntervalSinceNow: 3600)
            for id: DocumentID in ["a", "b", "c"] { try database.add(id) }
            for id: DocumentID in ["a", "b"] { try database.setExpiration(of: id, at: date) }
            let purged = try database.snapshot {
                [try database.purgeExpired(at: date + 1), try database.purgeExpired(at: date + 1)]
            }
            #expect(purged == [2, 0])
            #expect(try database.documents().map(\.id) == ["c"])
            #expect(try database.expiration(of: "a") == nil)
            #expect(try database.problems() == [])
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: Kinds.all)
    func `expiration runs automatically, soon after its time`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        try database.add("a")
        try database.add("b")
        try database.setExpiration(of: "b", at: Date(timeIntervalSinceNow: 0.3))
        try database.setExpiration(of: "a", at: Date(timeIntervalSinceNow: 0.05))
        waitUntil("both are purged") { try database.info().documents.live == 0 }
        #expect(try database.changes().isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func `documents that expired while closed are purged at opening`() throws {
        let temporary = try TemporaryDatabase(.file)
        try temporary.database.add("a")
        let date = Date(timeIntervalSinceNow: 0.2)
        try temporary.database.setExpiration(of: "a", at: date)
        let path = try #require(temporary.database.path)
        temporary.database.close()
        waitUntil("it has expired") { Date() > date }
        let database = try Database.open(path)
        waitUntil("it is purged") { try database.document("a") == nil }
        #expect(try database.tree(of: "a") == nil)
        database.close()
    }

    @Test(.timeLimit(.minutes(5))) func `suspending a database without files does not stop its expirations`() throws {
        let database = try Database.inMemory()
        try database.add("a")
        try database.setExpiration(of: "a", at: Date(timeIntervalSinceNow: 0.3))
        try database.suspend()
        waitUntil { try database.document("a") == nil }
        #expect(try database.tree(of: "a") == nil)
    }

    @Test(.timeLimit(.minutes(5))) func `documents expire after their database was suspended and resumed`() throws {
        let temporary = try TemporaryDatabase(.file)
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        try database.add("a")
        try database.setExpiration(of: "a", at: Date(timeIntervalSinceNow: 0.5))
        try database.suspend()
        try database.resume()
        waitUntil("it is purged") { try database.tree(of: "a") == nil }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the timer fires for a new date after the clock was set forward past the old one`() {
        let (timer, fired) = (ExpirationTimer(), Log<String>())
        let year: Int64 = 365 * 86_400_000
        timer.set(for: 3_600_000, now: 0) { fired.add("before") }
        timer.set(for: year + 50, now: year) { fired.add("after") }
        waitUntil("the timer fires") { fired.values == ["after"] }
        withExtendedLifetime(timer) {}
    }

    @Test(arguments: Kinds.all)
    func `dates out of range are handled`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a")
            #expect(code { try database.setExpiration(of: "none", at: Date()) } == .notFound)
            for date in [Date.distantFuture, Date(timeIntervalSince1970: .infinity)] {
                try database.setExpiration(of: "a", at: date)
                #expect(try database.purgeExpired() == 0)
            }
            #expect(code { try database.setExpiration(of: "a", at: Date(timeIntervalSince1970: .nan)) } == .invalid)
            #expect(try database.purgeExpired(at: .distantFuture) == 0)
            #expect(try database.document("a") != nil)
        }
    }
}
