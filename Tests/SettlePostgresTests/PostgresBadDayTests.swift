import Foundation
import PostgresTesting
import SettleCore
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettlePostgres

/// What goes wrong around a cluster, and what a program is told then.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresBadDayTests {
    private func failure(_ body: () throws -> Void) -> DatabaseError? {
        do { try body() } catch { return error as? DatabaseError }
        return nil
    }

    @Test func `a wrong password is said without saying it`() throws {
        let folder = try TemporaryFolder()
        let file = folder("password")
        try "hunter2\n".write(toFile: file, atomically: true, encoding: .utf8)
        var words = try Cluster.configuration().connection
        words += " application_name=test"
        let error = failure { _ = try PostgresStore(PostgresConfiguration(words, passwordFile: file)) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("password authentication failed") == true)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func `a password file that is not there, or empty, is named`() throws {
        let folder = try TemporaryFolder()
        let file = folder("password")
        let text = try Cluster.configuration().connection
        let missing = failure { _ = try PostgresStore(PostgresConfiguration(text, passwordFile: file)) }
        #expect(missing?.code == .inputOutput && missing?.message.contains(file) == true)
        try "\n".write(toFile: file, atomically: true, encoding: .utf8)
        let empty = failure { _ = try PostgresStore(PostgresConfiguration(text, passwordFile: file)) }
        #expect(empty?.code == .inputOutput && empty?.message.contains("empty line") == true)
    }

    @Test func `a server that is not there is unavailable`() throws {
        let error = failure {
            _ = try PostgresStore(PostgresConfiguration("host=127.0.0.1 port=1 dbname=settle user=settle_app"))
        }
        #expect(error?.code == .unavailable)
    }

    @Test func `more connections than there may be are waited for, and then refused`() throws {
        var configuration = try Cluster.configuration()
        configuration.connections = 1
        // The first node of the tests makes the tables.
        _ = try Cluster.node()
        let node = try PostgresStore(configuration)
        let name = Cluster.newName()
        let database = try node.create(name)
        let begun = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let holder = try SystemThread {
            try? database.transaction {
                begun.signal()
                ended.wait()
            }
        }
        begun.wait()
        let error = failure { _ = try database.document("a") }
        ended.signal()
        holder.join()
        #expect(error?.code == .unavailable)
        #expect(try database.document("a") == nil)
    }

    @Test func `a snapshot begins on another connection if an idle one has ended`() throws {
        let (store, database, name) = try Cluster.newDatabase()
        try database.save(Document(id: "a", body: [:]), onConflict: .fail)
        let number = try #require(try store.find([name]).first).number
        let pool = PostgresPool(try Cluster.configuration())
        defer { pool.close() }
        let process = try pool.with { try $0.run([PostgresCall(.process)])[0].integer(0, 0) }
        let other = try PostgresConnection(Cluster.configuration().connectionParameters())
        _ = try other.runText("SELECT pg_terminate_backend(\(process)::int, 5000)")
        let snapshot = SnapshotLink(number, pool)
        defer { snapshot.end() }
        #expect(try snapshot.state.sequence == 1)
        withExtendedLifetime(store) {}
    }

    @Test func `an id that is too long is refused, and the others of the batch are written`() throws {
        let (store, database, _) = try Cluster.newDatabase()
        let long = DocumentID(unchecked: String(repeating: "é", count: 1025))
        let longest = DocumentID(unchecked: String(repeating: "é", count: 1024))
        let edits = [long, longest, "short"].map { DocumentEdit(id: $0, parent: nil, body: [:]) }
        let results = try database.write(edits)
        #expect(throws: DatabaseError.self) { try results[0].get() }
        _ = try (results[1].get(), results[2].get())
        let revision = ReplicatedRevision(
            id: long, history: RevisionHistory(try RevisionID(validating: "1-a")), isDeleted: false, body: .empty)
        guard case .refused(let reason) = try database.insertReplicated([revision])[0] else {
            Issue.record("it was not refused")
            return
        }
        #expect(reason.code == .invalid && reason.message.contains("2048"))
        withExtendedLifetime(store) {}
    }

    @Test func `a local document with an id that is too long is refused before it joins a commit`() throws {
        let (store, database, _) = try Cluster.newDatabase()
        let long = DocumentID(unchecked: "_local/" + String(repeating: "é", count: 1025))
        let error = failure { _ = try database.saveLocalDocument(long, body: ["v": 1]) }
        #expect(error?.code == .invalid && error?.message.contains("2048") == true)
        let longest = DocumentID(unchecked: "_local/" + String(repeating: "é", count: 1020))
        _ = try database.saveLocalDocument(longest, body: ["v": 1])
        #expect(try database.localDocuments().map(\.id) == [longest])
        withExtendedLifetime(store) {}
    }

    @Test func `another version of the tables, and another cluster, are refused`() throws {
        let connection = try PostgresConnection(Cluster.owner().connectionParameters())
        let pool = PostgresPool(try Cluster.configuration())
        func check(_ version: Int, _ cluster: String) -> DatabaseError? {
            failure { try pool.check(connection.runText("SELECT \(version)::bigint, '\(cluster)'::text")[0]) }
        }
        #expect(check(2, "a") == nil)
        #expect(check(1, "a")?.message.contains("settle postgres migrate") == true)
        #expect(check(3, "a")?.code == .newerFormat)
        #expect(check(2, "b")?.code == .invalid)
        #expect(check(2, "a") == nil)
    }

    @Test func `a migration that fails at the rights of a role changes nothing`() throws {
        let tables = try OwnTables(isMigrated: false)
        defer { tables.remove() }
        let error = failure { _ = try tables.migrate(appRole: "settle_nobody") }
        #expect(error?.code == .storage)
        let report = try tables.migrate()
        #expect(report.before == nil && report.now == PostgresSchema.version)
        #expect(try tables.migrate().before == PostgresSchema.version)
    }

    @Test func `a role that may only read is refused`() throws {
        let connection = try PostgresConnection(Cluster.owner().connectionParameters())
        func check(_ columns: String) -> DatabaseError? {
            failure { try PostgresStore.check(rights: connection.runText("SELECT \(columns)")[0]) { _ in } }
        }
        #expect(check("0, 0, 1, 1, 1, 1, 0") == nil)
        #expect(check("0, 0, 0, 1, 1, 1, 0")?.message.contains("--app-role") == true)
        #expect(check("0, 0, 1, 1, 0, 1, 0")?.code == .storage)
    }

    @Test(arguments: [
        "host=db.example dbname=settle", "host=127.0.0.1,db.example dbname=settle sslmode=require",
        "host=db.example sslmode=verify-ca", "postgresql://db.example/settle",
    ])
    func `an unchecked connection to another machine is refused`(text: String) {
        let error = failure { _ = try PostgresConfiguration(text) }
        #expect(error?.code == .invalid && error?.message.contains("verify-full") == true)
    }

    @Test(arguments: [
        "host=db.example dbname=settle sslmode=verify-full", "host=127.0.0.1", "host=/run/postgresql",
        "host=localhost,::1",
    ])
    func `checked connections and those to this machine are allowed`(text: String) throws {
        _ = try PostgresConfiguration(text)
    }

    @Test(arguments: ["host=127.0.0.1 password=hunter2", "postgresql://anna:hunter2@127.0.0.1/settle"])
    func `a password in the connection string is refused without repeating it`(text: String) {
        let error = failure { _ = try PostgresConfiguration(text) }
        #expect(error?.code == .invalid)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func `a full disk and a read-only server have words of their own`() {
        let full = PostgresFailure.refused(state: "53100", message: "could not extend file").error
        #expect(full.code == .diskFull)
        let readOnly = PostgresFailure.refused(state: "25006", message: "cannot execute in a read-only transaction")
        #expect(readOnly.error.code == .unavailable && readOnly.endsConnection)
        #expect(PostgresFailure.refused(state: "53300", message: "too many clients").error.code == .unavailable)
        #expect(PostgresFailure.refused(state: "40001", message: "could not serialize").isTransient)
    }
}

/// The order in which the servers of a connection string are tried.
@Suite struct PostgresHostTests {
    private func order(_ connection: String, passing passed: Int) throws -> [String?] {
        let parameters = try PostgresConfiguration(connection).connectionParameters(passing: passed)
        return ["host", "port"].map { name in parameters.last { $0.0 == name }?.1 }
    }

    @Test func `servers that are passed over come last, with their ports`() throws {
        let three = "host=127.0.0.1,127.0.0.2,127.0.0.3 port=1,2,3 dbname=settle"
        #expect(try PostgresConfiguration(three).hosts == 3)
        #expect(try order(three, passing: 0) == ["127.0.0.1,127.0.0.2,127.0.0.3", "1,2,3"])
        #expect(try order(three, passing: 1) == ["127.0.0.2,127.0.0.3,127.0.0.1", "2,3,1"])
        #expect(try order(three, passing: 2) == ["127.0.0.3,127.0.0.1,127.0.0.2", "3,1,2"])
    }

    @Test func `one port for all servers stays, and one server is the only one`() throws {
        #expect(try order("host=127.0.0.1,localhost port=5432", passing: 1) == ["localhost,127.0.0.1", "5432"])
        #expect(try PostgresConfiguration("host=127.0.0.1 dbname=settle").hosts == 1)
        #expect(try PostgresConfiguration("dbname=settle").hosts == 1)
    }
}
