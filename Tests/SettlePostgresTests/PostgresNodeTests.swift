import Foundation
import PostgresTesting
import SettleCore
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettlePostgres

/// What a node does about other primaries, other versions of the tables, refused connections and poolers.
@Suite(.serialized, .enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence)), .timeLimit(.minutes(5)))
struct PostgresNodeTests {
    private func failure(_ body: () throws -> Void) -> DatabaseError? {
        do { try body() } catch { return error as? DatabaseError }
        return nil
    }

    @Test func `a primary of an older timeline is not used once a newer one was seen`() throws {
        _ = try Cluster.node()
        let pool = PostgresPool(try Cluster.configuration())
        let (connection, generation) = try pool.borrow()
        pool.giveBack(connection, generation)
        #expect(pool.load.idle == 1)
        pool.raise("FFFFFFFF")
        #expect(pool.load.idle == 0 && pool.generation > generation)
        let error = failure { _ = try pool.borrow() }
        #expect(error?.code == .unavailable && error?.message.contains("was replaced") == true)
    }

    @Test func `a connection that reports a newer timeline ends the use of those to the old primary`() throws {
        _ = try Cluster.node()
        let pool = PostgresPool(try Cluster.configuration())
        let (lent, generation) = try pool.borrow()
        let (idle, _) = try pool.borrow()
        pool.giveBack(idle, generation)
        #expect(pool.load.idle == 1)
        #expect(pool.adopt(timeline: "FFFFFFFF"))
        #expect(pool.load.idle == 0 && pool.generation > generation)
        pool.giveBack(lent, generation)
        #expect(pool.load.idle == 0 && pool.load.lent == 0)
        #expect(!pool.adopt(timeline: "00000001"))
    }

    @Test func `a refused connection waits for one of the node's own, and attempts are few`() throws {
        _ = try Cluster.node()
        let proxy = try CuttingProxy(to: Cluster.port)
        var configuration = try Cluster.configuration(port: proxy.port)
        configuration.connections = 8
        let pool = PostgresPool(configuration)
        let (first, generation) = try pool.borrow()
        proxy.refuse()
        let start = ContinuousClock.now
        let log = Log([Bool]())
        let waiting = try (0..<6).map { _ in
            try SystemThread {
                // Otherwise a thread waits for two seconds only, in which this test may not go on.
                let isServed = StartedAnswer.producing(hasBegun: true) {
                    (try? pool.with { try $0.run([PostgresCall(.process)]) }) != nil
                }
                log.update { $0.append(isServed) }
            }
        }
        waitUntil("all wait for the lent connection") { pool.load.counts.waiting == 6 }
        pool.giveBack(first, generation)
        for thread in waiting { thread.join() }
        #expect(log.value == Array(repeating: true, count: 6))
        // Each thread may try once, and then one of them every quarter of a second.
        #expect(pool.load.counts.failures <= 7 + Int((ContinuousClock.now - start) / .milliseconds(250)))
        withExtendedLifetime(proxy) {}
    }

    @Test func `names of prepared statements are random`() throws {
        _ = try Cluster.node()
        let names = try (0..<2).map { _ in
            let connection = try PostgresConnection(Cluster.configuration().connectionParameters())
            _ = try connection.run([PostgresCall(.process)])
            return try connection.runText("SELECT name FROM pg_prepared_statements WHERE name <> '' ORDER BY 1")[0]
                .text(0, 0)
        }
        #expect(names[0].count > 12 && names[0] != names[1])
    }

    @Test func `a write that changes nothing clears the doubt after one without an answer`() throws {
        let (store, database, _) = try Cluster.newDatabase()
        try store.checkWrites()
        store.pool.recordWrite(isAnswered: false)
        try store.checkWrites()
        try database.save(Document(id: "a", body: try DocumentBody(["x": 1])))
        let numbers = Dictionary(uniqueKeysWithValues: store.numbers.map { ($0.name, $0.value) })
        #expect(numbers["connections_opened", default: 0] > 0 && numbers["connections_limit"] == 16)
        #expect(numbers["commit_queue"] == 0 && numbers["leases"] == 0)
    }
}
