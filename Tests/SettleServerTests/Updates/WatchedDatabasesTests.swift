import Settle
import SettleTesting
import Testing

@testable import SettleServer

struct WatchedDatabasesTests {
    private func expectNew(_ database: Database, _ name: String, in watched: inout WatchedDatabases) {
        let isNew = watched.add(database, name)
        #expect(isNew, "\(name)")
    }

    @Test func `closed databases are forgotten, and open ones never`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        let kept = try (0..<5).map { try store.create("kept\($0)") }
        var watched = WatchedDatabases()
        for (number, database) in kept.enumerated() { expectNew(database, "kept\(number)", in: &watched) }
        for number in 0..<150 {
            expectNew(try store.create("db\(number)"), "db\(number)", in: &watched)
            #expect(watched.all.count <= 65)
        }
        for (number, database) in kept.enumerated() {
            #expect(watched.all["kept\(number)"]?.database === database)
            let isNew = watched.add(database, "kept\(number)")
            #expect(!isNew)
        }
        watched.remove("kept0")
        expectNew(kept[0], "kept0", in: &watched)
    }

    @Test func `many open databases are all kept`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        var watched = WatchedDatabases()
        let open = try (0..<140).map { try store.create("db\($0)") }
        for (number, database) in open.enumerated() { expectNew(database, "db\(number)", in: &watched) }
        #expect(watched.all.count == 140)
        #expect(open.count == 140)
    }

    @Test func `a database that was made anew under its name is watched again`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        var watched = WatchedDatabases()
        var database: Database? = try store.create("db")
        expectNew(try #require(database), "db", in: &watched)
        database = nil
        try store.delete("db")
        expectNew(try store.create("db"), "db", in: &watched)
    }
}
