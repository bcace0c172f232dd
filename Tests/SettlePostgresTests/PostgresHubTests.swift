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
}
