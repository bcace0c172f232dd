import Foundation
import PostgresTesting
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettlePostgres

/// How nodes learn of each other's commits.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresHubTests {
    @Test func `an observer is woken by a commit of another node`() async throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let other = try second.open(name)
        async let isWoken = other.waitForChange(after: 0)
        await eventually("the observer waits") { other.changeBell.waiterCount == 1 }
        try database.save(Document(id: "a", body: [:]), onConflict: .fail)
        #expect(await isWoken)
        #expect(try other.document("a") != nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `epochs of settings and design documents follow other nodes at once`() throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let other = try second.open(name)
        let (settings, design, commit) = (other.settingsEpoch, other.designEpoch, other.newestCommit)
        try database.setSetting("x", to: "1")
        #expect(other.settingsEpoch != settings)
        try database.save(Document(id: "_design/a", body: [:]), onConflict: .fail)
        #expect(other.designEpoch != design)
        #expect(other.newestCommit != commit)
        #expect(other.newestCommit?.sequence == 1)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `releasing an engine does not stop the other engines of its database`() async throws {
        let (first, database, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let kept = try second.engine(of: name)
        let heard = Log([Int64]())
        kept.onCommit { notice in heard.update { $0.append(notice.sequence.number) } }
        // Threads that open a database at the same time make an engine each, and all but one are released.
        _ = try second.engine(of: name)
        try database.save(Document(id: "a", body: [:]), onConflict: .fail)
        await eventually("the engine hears of the commit") { heard.value.last == 1 }
        withExtendedLifetime((first, second, kept)) {}
    }

    @Test func `a database that another node deletes is closed`() async throws {
        let (first, _, name) = try Cluster.newDatabase()
        let second = try Cluster.node()
        let other = try second.open(name)
        async let isWoken = other.waitForChange(after: 0)
        await eventually("the observer waits") { other.changeBell.waiterCount == 1 }
        try first.delete(name)
        #expect(await !isWoken)
        #expect(throws: DatabaseError.self) { try other.save(Document(id: "a", body: [:]), onConflict: .fail) }
        #expect(throws: DatabaseError.self) { try second.open(name) }
        let new = try second.create(name)
        #expect(try new.info().documents.live == 0)
    }

    @Test func `open databases come before deleted ones in housekeeping, and one that fails stops no other`() throws {
        let (store, _, name) = try Cluster.newDatabase()
        let row = try #require(try store.find([name]).first)
        let configuration = store.configuration
        let (pool, closedPool) = (PostgresPool(configuration), PostgresPool(configuration))
        defer { pool.close() }
        closedPool.close()
        func engine(_ number: Int64, _ pool: PostgresPool) -> PostgresEngine {
            PostgresEngine(number, pool, configuration, state: row.state, ring: { _, _ in }, onClose: { _ in })
        }
        let good = engine(row.number, pool)
        let failing = (1...8).map { engine(-$0, closedPool) }
        let hub = CommitHub(pool)
        for engine in failing + [good] { hub.add(engine) }
        let blobs = try #require(good.blobs as? PostgresBlobs)
        let place = try upload(to: blobs)
        #expect(try blobs.chunk(0, of: place) != nil)
        // No time for deleted databases.
        #expect(hub.keepHouse(for: .zero))
        #expect(try blobs.chunk(0, of: place) == nil)
        withExtendedLifetime((store, failing)) {}
    }

    /// Makes an upload that is not needed when this returns, so that the next housekeeping removes it.
    private func upload(to blobs: PostgresBlobs) throws -> [UInt8] {
        let writer = try blobs.newBlob()
        try [UInt8](repeating: 7, count: 1000).withUnsafeBytes { try writer.write($0) }
        let digest = try #require(BlobDigest([UInt8](repeating: 7, count: 32)))
        return try #require(try writer.finish(as: digest).place)
    }

    @Test func `the thread of a node removes what is left in its databases, each time it is asked`() async throws {
        let (store, _, name) = try Cluster.newDatabase()
        let engine = try #require(try store.engine(of: name) as? PostgresEngine)
        let blobs = try #require(engine.blobs as? PostgresBlobs)
        for round in 1...3 {
            let place = try upload(to: blobs)
            store.hub.keepHouse()
            await eventually("the upload of round \(round) is removed") { try blobs.chunk(0, of: place) == nil }
        }
        withExtendedLifetime((store, engine)) {}
    }

    @Test func `the threads of a node end with it`() async throws {
        struct Observed { weak let hub: CommitHub? }
        let observed = Observed(hub: try Cluster.node().hub)
        await eventually("no thread uses the hub") { observed.hub == nil }
    }

    @Test func `an upload that was given up gets no more chunks`() throws {
        let (store, _, name) = try Cluster.newDatabase()
        let number = try #require(try store.find([name]).first).number
        let engine = try #require(try store.engine(of: name) as? PostgresEngine)
        let writer = try #require(engine.blobs as? PostgresBlobs).newBlob()
        // Another node removes what is left of an upload that nobody has prolonged for ten minutes.
        _ = try store.pool.runOnce([PostgresCall(.destroy(.uploads), .integer(number))])
        let error = #expect(throws: DatabaseError.self) {
            try [UInt8](repeating: 7, count: 5 << 20).withUnsafeBytes { try writer.write($0) }
        }
        #expect(error?.code == .attachmentMissing)
        let owner = try PostgresConnection(Cluster.owner().connectionParameters())
        let chunks = try owner.runText("SELECT count(*) FROM settle.chunks WHERE database_id = \(number)")
        #expect(chunks[0].integer(0, 0) == 0)
    }

    @Test func `a deleted database can be removed in steps without time`() throws {
        let (store, database, name) = try Cluster.newDatabase()
        try database.save(Document(id: "a", body: [:]), onConflict: .fail)
        try store.delete(name)
        let house = Housekeeping(pool: store.pool)
        // Each call takes at least one step.
        for _ in 0..<10_000 {
            guard try house.destroyOne(until: .now) else { return }
        }
        Issue.record("there is still a deleted database")
    }
}
