internal import Foundation
package import SettleDatabase
package import SettlePostgres
package import SettleTesting

/// The PostgreSQL of the tests, which `Scripts/test.sh` starts.
package enum Cluster {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether there is one.
    package static let isThere = environment["SETTLE_TEST_POSTGRES"] != nil

    /// What a test without it says.
    package static let absence = "needs PostgreSQL: install it, or set SETTLE_TEST_POSTGRES to a connection string"

    /// How a node of the tests connects.
    package static func configuration(node: String? = nil) throws -> PostgresConfiguration {
        let text = environment["SETTLE_TEST_POSTGRES"] ?? ""
        return try PostgresConfiguration(
            text, passwordFile: environment["SETTLE_TEST_POSTGRES_PASSWORD_FILE"], node: node)
    }

    /// The port on loopback.
    package static var port: Int {
        let words = (environment["SETTLE_TEST_POSTGRES"] ?? "").split(separator: " ")
        return words.first { $0.hasPrefix("port=") }.flatMap { Int($0.dropFirst(5)) } ?? 5432
    }

    /// How a node connects by way of a proxy.
    package static func configuration(port: Int) throws -> PostgresConfiguration {
        let words = (environment["SETTLE_TEST_POSTGRES"] ?? "").split(separator: " ").filter { !$0.hasPrefix("port=") }
        return try PostgresConfiguration(
            (words + ["port=\(port)"]).joined(separator: " "),
            passwordFile: environment["SETTLE_TEST_POSTGRES_PASSWORD_FILE"])
    }

    /// The owner's role, which may make the tables.
    package static func owner() throws -> PostgresConfiguration {
        let text = environment["SETTLE_TEST_POSTGRES_OWNER"] ?? environment["SETTLE_TEST_POSTGRES"] ?? ""
        let file =
            environment["SETTLE_TEST_POSTGRES_OWNER_PASSWORD_FILE"] ?? environment["SETTLE_TEST_POSTGRES_PASSWORD_FILE"]
        return try PostgresConfiguration(text, passwordFile: file)
    }

    /// The tables, made once for all tests.
    private static let migration = Result { try PostgresMigration.run(owner(), appRole: "settle_app") }

    /// A node of its own.
    package static func node(
        _ name: String? = nil, options: DatabaseOptions = DatabaseOptions()
    ) throws -> PostgresStore {
        _ = try migration.get()
        return try PostgresStore(configuration(node: name), options: options)
    }

    /// A name that no other test uses.
    package static func newName() -> String { "t" + UUID().uuidString.lowercased().replacing("-", with: "") }

    /// A new database of a node.
    package static func newDatabase(
        _ options: DatabaseOptions = DatabaseOptions()
    ) throws -> (PostgresStore, Database, String) {
        let (store, name) = (try node(options: options), newName())
        return (store, try store.create(name), name)
    }
}

/// On which storage the tests of databases run.
package enum Kinds {
    /// Whether everything runs on PostgreSQL: `make postgres-test`.
    static let isOnlyPostgres = ProcessInfo.processInfo.environment["SETTLE_TEST_ENGINE"] == "postgres"

    /// All kinds of storage that are there.
    package static let all: [DatabaseKind] = {
        guard Cluster.isThere else { return DatabaseKind.allCases }
        _ = use
        return isOnlyPostgres ? [.other] : DatabaseKind.allCases + [.other]
    }()

    /// The kinds that can keep a journal.
    package static let withJournal = DatabaseKind.allCases

    /// One node for all tests of a process.
    fileprivate static let node = Result { try Cluster.node() }

    private static let use: Void = OtherStorage.use {
        let (store, name) = (try node.get(), Cluster.newName())
        return OtherStorage(
            open: { options in
                let engine = try (try? store.engine(of: name)) ?? store.newEngine(name)
                return try Database.make(on: engine, options: options)
            }, remove: { try? store.delete(name) })
    }

    /// The storage of a test that needs no certain one.
    package static let plain: DatabaseKind = isOnlyPostgres && !all.isEmpty ? .other : .memory
}

extension DatabaseKind {
    /// In memory, or on PostgreSQL where everything runs there.
    package static var plain: DatabaseKind { Kinds.plain }
}

extension Database {
    /// A database that needs no certain storage.
    package static func plain(options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        guard Kinds.plain == .other else { return try .inMemory(options: options) }
        return try Database.make(on: Kinds.node.get().newEngine(Cluster.newName()), options: options)
    }
}
