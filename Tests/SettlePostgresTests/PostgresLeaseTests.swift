import PostgresTesting
import SettleCore
import SettleDatabase
import Testing

@testable import SettlePostgres

/// Leases of jobs in PostgreSQL.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresLeaseTests {
    @Test func `a job has one node at a time, and each change of node is another term`() throws {
        let (first, _, name) = try Cluster.newDatabase()
        let second = try Cluster.node("other")
        let (one, two) = try (first.engine(of: name).leases, second.engine(of: name).leases)
        let taken = try one.take(["a", "b", "c"], atMost: 2)
        #expect(Set(taken.map(\.job)) == ["a", "b"])
        #expect(try two.take(["a", "b", "c"], atMost: 3).map(\.job) == ["c"])
        #expect(try one.renew(taken.map { ($0, Array("s".utf8)) }).count == 2)
        #expect(try two.renew(taken.map { ($0, nil) }).isEmpty)
        #expect(try two.all().map(\.job) == ["a", "b", "c"])
        #expect(try two.all().first?.status == Array("s".utf8))
        try one.release(taken)
        let again = try two.take(["a"], atMost: 1)
        #expect(again == [JobLease(job: "a", term: 2)])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a lease that was released counts its terms for a day, and is then removed`() throws {
        let (store, _, name) = try Cluster.newDatabase()
        let number = try #require(try store.find([name]).first).number
        let engine = try #require(try store.engine(of: name) as? PostgresEngine)
        let owner = try PostgresConnection(Cluster.owner().connectionParameters())
        func count() throws -> Int64 {
            try owner.runText("SELECT count(*) FROM settle.leases WHERE database_id = \(number)")[0].integer(0, 0)
        }
        try engine.leases.release(engine.leases.take(["a"], atMost: 1))
        try engine.keepHouse()
        #expect(try count() == 1)
        let again = try engine.leases.take(["a"], atMost: 1)
        #expect(again == [JobLease(job: "a", term: 2)])
        try engine.leases.release(again)
        _ = try owner.runText(
            "UPDATE settle.leases SET until = until - interval '1 day' WHERE database_id = \(number)")
        try engine.keepHouse()
        #expect(try count() == 0)
    }

    @Test func `a write under a lease that another node has writes nothing`() throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node("other")
        let (engine, other) = (try first.engine(of: name), try second.engine(of: name))
        let (one, two) = (engine.leases, other.leases)
        let lease = try #require(one.take(["a"], atMost: 1).first)
        try engine.hold { writer in
            try engine.require(lease)
            try writer.put(.setting(name: "x", value: "1"))
        }
        try one.release([lease])
        _ = try two.take(["a"], atMost: 1)
        #expect(throws: DatabaseError.self) {
            try engine.hold { writer in
                try engine.require(lease)
                try writer.put(.setting(name: "x", value: "2"))
            }
        }
        #expect(throws: DatabaseError.self) {
            try engine.commit { writer in
                try engine.require(lease)
                try writer.put(.setting(name: "x", value: "3"))
            }
        }
        #expect(try database.setting("x") == "1")
    }
}
