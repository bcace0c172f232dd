import Foundation
import PostgresTesting
import SettleTesting

@testable import SettlePostgres

/// Settle's tables in a PostgreSQL database of a test's own, for what concerns all databases in them.
struct OwnTables {
    private static let environment = ProcessInfo.processInfo.environment
    private let name = Cluster.newName()
    private let superuser: PostgresConnection

    init(isMigrated: Bool = true) throws {
        superuser = try PostgresConnection(Self.configuration("_SUPERUSER", "postgres").connectionParameters())
        _ = try superuser.runText("CREATE DATABASE \(name) OWNER settle_owner")
        if isMigrated { _ = try migrate() }
    }

    func remove() { _ = try? superuser.runText("DROP DATABASE \(name) WITH (FORCE)") }

    func migrate(appRole: String = "settle_app") throws -> PostgresMigration.Report {
        try PostgresMigration.run(Self.configuration("_OWNER", name), appRole: appRole)
    }

    /// How a node connects.
    func configuration() throws -> PostgresConfiguration { try Self.configuration("", name) }

    func owner() throws -> PostgresConnection {
        try PostgresConnection(Self.configuration("_OWNER", name).connectionParameters())
    }

    /// What the check of the tables prints, and its status.
    func check() throws -> (status: Int32, output: String) {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let script = tests.appending(path: "../../Benchmarks/postgres/checks.py").path
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", script, Self.text("_OWNER", name)]
        let file = Self.environment["SETTLE_TEST_POSTGRES_OWNER_PASSWORD_FILE"]
        let password = try file.map { try String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        let firstLine = String(password.prefix { !$0.isNewline })
        python.environment = Self.environment.merging(["PGPASSWORD": firstLine]) { $1 }
        let output = Pipe()
        (python.standardOutput, python.standardError) = (output, output)
        try python.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        return (python.waitForEnd(), String(decoding: data, as: UTF8.self))
    }

    private static func text(_ role: String, _ name: String) -> String {
        let words = (environment["SETTLE_TEST_POSTGRES" + role] ?? "").split(separator: " ")
        return (words.filter { !$0.hasPrefix("dbname=") } + ["dbname=\(name)"]).joined(separator: " ")
    }

    private static func configuration(_ role: String, _ name: String) throws -> PostgresConfiguration {
        try PostgresConfiguration(
            text(role, name), passwordFile: environment["SETTLE_TEST_POSTGRES\(role)_PASSWORD_FILE"])
    }
}
