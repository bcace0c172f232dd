import PostgresTesting
import SettleDatabase
import SettleTesting
import Testing

@testable import SettlePostgres

@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresEngineSuiteTests {
    @Test func `the engine on PostgreSQL keeps what every engine promises`() throws {
        let store = try Cluster.node()
        let failures = StorageEngineSuite.run { try store.newEngine(Cluster.newName()) }
        #expect(failures == [])
    }
}
