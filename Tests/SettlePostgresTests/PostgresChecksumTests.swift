import Foundation
import PostgresTesting
import SettleCore
import SettleDatabase
import SettleTesting
import Testing

@testable import SettlePostgres

/// Rows of PostgreSQL that changed by themselves, and tables that were restored.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresChecksumTests {
    /// Runs a statement of the owner on the rows of one database.
    private func change(_ set: String, of table: String, in database: Database, where condition: String = "true") throws
    {
        let connection = try PostgresConnection(Cluster.owner().connectionParameters())
        let instance = try database.instanceName()
        let number = """
            SELECT database_id FROM settle.records WHERE kind = 2 AND key = 'instance'::bytea \
            AND value = convert_to('\(instance)', 'UTF8')
            """
        _ = try connection.runText(
            "UPDATE settle.\(table) SET \(set) WHERE database_id IN (\(number)) AND \(condition)")
    }

    @Test(arguments: [
        "body = set_byte(body, 8, get_byte(body, 8) # 1)", "tree = set_byte(tree, 15, get_byte(tree, 15) # 16)",
        "attachments = set_byte(attachments, 3, get_byte(attachments, 3) # 2)",
    ])
    func `a changed bit in a row is found by reading and by verifying`(damage: String) throws {
        let (node, database, name) = try Cluster.newDatabase()
        defer { try? node.delete(name) }
        for id in ["k", "m"] as [DocumentID] {
            try database.save(Document(id: id, body: ["pay": 1000]), onConflict: .fail)
        }
        try change(damage, of: "documents", in: database, where: "id = 'm'::bytea")
        #expect(throws: DatabaseError.self) { try database.document("m") }
        #expect(try database.document("k")?["pay"] == 1000)
        #expect(try database.verify().problems.contains { $0.contains("checksum") })
    }

    @Test func `a changed bit in an old body and in an attachment is found`() throws {
        let (node, database, name) = try Cluster.newDatabase()
        defer { try? node.delete(name) }
        var document = Document(id: "m", body: ["pay": 1000])
        document.attach(try database.makeAttachment("a", content: Array(repeating: 7, count: 3000)))
        document = try database.save(document, onConflict: .fail)
        let first = try #require(document.revision)
        document["pay"] = 2000
        document = try database.save(document, onConflict: .fail)
        try change("body = set_byte(body, 8, get_byte(body, 8) # 1)", of: "contents", in: database)
        try change("content = set_byte(content, 8, get_byte(content, 8) # 1)", of: "blobs", in: database)
        #expect(throws: DatabaseError.self) { try database.document("m", revision: first) }
        let attachment = try #require(try database.document("m")?.attachments.first)
        #expect(throws: DatabaseError.self) { try database.content(of: attachment) }
    }

    @Test func `a row of version 1 has no checksum and is checked by the hash of its revision`() throws {
        let (node, database, name) = try Cluster.newDatabase()
        defer { try? node.delete(name) }
        try database.save(Document(id: "m", body: ["pay": 1000]), onConflict: .fail)
        try change("tree = substr(tree, 10), attachments = NULL", of: "documents", in: database)
        #expect(try database.document("m")?["pay"] == 1000)
        try change("body = convert_to('{\"pay\":9000}', 'UTF8')", of: "documents", in: database)
        #expect(throws: DatabaseError.self) { try database.document("m") }
    }
}

/// Update sequences after a restore, in a PostgreSQL database of the test's own, since all databases in it are concerned.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresRenewalTests {
    @Test func `sequences get a new suffix on demand, and when the tables are somewhere else`() throws {
        let tables = try OwnTables()
        defer { tables.remove() }
        /// The instance name that a node finds when it starts now.
        func instance() throws -> String {
            let node = try PostgresStore(tables.configuration())
            defer { withExtendedLifetime(node) {} }
            return try node.open("db").instanceName()
        }
        let node = try PostgresStore(tables.configuration())
        let first = try node.create("db").instanceName()
        #expect(try instance() == first)
        #expect(try node.renewSequences() == 1)
        let second = try instance()
        #expect(second != first)
        // As the tables say after a dump of them was restored.
        let owner = try tables.owner()
        _ = try owner.runText("UPDATE settle.server SET value = convert_to('1/1', 'UTF8') WHERE name = 'place'")
        let third = try instance()
        #expect(third != second)
        #expect(try instance() == third)
    }

    @Test func `tables of version 1 are brought up to this one`() throws {
        let tables = try OwnTables()
        defer { tables.remove() }
        let owner = try tables.owner()
        _ = try owner.runText("UPDATE settle.format SET number = 1")
        #expect(throws: DatabaseError.self) { try PostgresStore(tables.configuration()) }
        let report = try tables.migrate()
        #expect(report.before == 1 && report.now == 2)
        let node = try PostgresStore(tables.configuration())
        _ = try node.create("db")
    }
}
