import PostgresTesting
import SettleCore
import SettleDatabase
import Testing

@testable import SettlePostgres

/// `Benchmarks/postgres/checks.py`, which operators run on the tables of a cluster.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct TableCheckTests {
    @Test(arguments: [
        ("UPDATE settle.documents SET tree = set_byte(tree, 15, get_byte(tree, 15) # 16)", "a damaged tree"),
        ("DELETE FROM settle.blobs", "an attachment without its bytes"),
        ("DELETE FROM settle.contents", "a document without its content"),
        ("UPDATE settle.tallies SET plain = plain + 1", "tallies differ from counts"),
    ])
    func `the check of the tables finds damage, and nothing in sound ones`(damage: String, kind: String) throws {
        let tables = try OwnTables()
        defer { tables.remove() }
        let node = try PostgresStore(tables.configuration())
        let database = try node.create("db")
        try database.save(Document(id: "plain", body: ["n": 1]), onConflict: .fail)
        // A list of attachments, an old body, and branches.
        var document = Document(id: "edited", body: ["n": 1])
        document.attach(try database.makeAttachment("a", content: Array(repeating: 7, count: 3000)))
        document = try database.save(document, onConflict: .fail)
        for number in 2...3 {
            let edit = DocumentEdit(id: "edited", parent: document.revision, body: ["n": .number(JSONNumber(number))])
            _ = try database.write([edit])[0].get()
            document = try #require(try database.document("edited"))
        }
        try database.delete(try #require(try database.document("plain")), onConflict: .fail)
        try database.save(Document(id: "plain", body: ["n": 2]), onConflict: .fail)
        let sound = try tables.check()
        #expect(sound.status == 0 && sound.output.isEmpty, "\(sound.output)")
        _ = try tables.owner().runText(damage)
        let damaged = try tables.check()
        #expect(damaged.status == 1 && damaged.output.contains(kind), "\(damaged.output)")
    }
}
