import PostgresTesting
import SettleCore
import SettleDatabase
import SettleTesting
import Testing

@testable import SettlePostgres

/// Exact copies from a file to PostgreSQL and back.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresCopyTests {
    private struct Cut: Error {}

    /// A database with conflicts, deletions, attachments of both sizes, local documents and a purge.
    private func fill(_ database: Database) throws {
        for number in 0..<300 {
            let id = DocumentID(unchecked: "d\(number % 220)")
            try database.save(Document(id: id, body: ["n": .number(JSONNumber(number))]), onConflict: .lastWriteWins)
        }
        for text in ["2-a", "2-b"] {
            let history = try RevisionHistory(
                start: 2, signatures: [RevisionID(validating: text).signature, RevisionID(validating: "1-c").signature])
            try database.insertReplicated([
                ReplicatedRevision(id: "conflict", history: history, isDeleted: false, body: ["by": .string(text)])
            ])
        }
        for (id, size) in [("small", 100), ("large", 700_000)] {
            let attachment = try database.makeAttachment("x", content: (0..<size).map { UInt8(truncatingIfNeeded: $0) })
            try database.save(Document(id: DocumentID(unchecked: id), attachments: [attachment]), onConflict: .fail)
        }
        try database.saveLocalDocument("_local/a", body: ["v": 1])
        try database.setRevisionLimit(77)
        try database.purge("d1")
        _ = try database.instanceName()
    }

    @Test func `a copy to PostgreSQL and back is the same, also when it was cut again and again`() throws {
        let folder = try TemporaryFolder()
        let source = try Database.create(folder("a.settle"))
        defer { source.close() }
        try fill(source)
        let (node, name) = (try Cluster.node(), Cluster.newName())
        var first: String?
        for limit in 1...200 {
            let target = try node.beginCopy(name)
            defer { target.close() }
            var steps = 0
            do {
                first = try source.copy(to: target) { _ in
                    steps += 1
                    if steps > limit { throw Cut() }
                }
            } catch is Cut { continue }
            break
        }
        #expect(first != nil)
        #expect(throws: DatabaseError.self) { try node.open(name) }
        try node.endCopy(name)
        let copied = try node.open(name)
        #expect(try copied.lastSequence() == source.lastSequence())
        #expect(try copied.instanceName() == source.instanceName())
        #expect(try copied.document("large")?.attachments.first.map { try copied.content(of: $0).count } == 700_000)
        #expect(try copied.verify().problems == [])
        let back = try Database.create(folder("b.settle"))
        defer { back.close() }
        let second = try copied.copy(to: back)
        #expect(first == second)
        #expect(try back.verify().problems == [])
        #expect(throws: DatabaseError.self) { try node.beginCopy(name) }
    }
}
