import Settle
import SettleCore
import SettleDatabase
import Testing

@testable import SettleCommands

/// The lines of an export in the forms of other products.
@Suite struct ExportFormTests {
    /// The number of revisions in a line.
    private static let batch = 500

    /// A database of single documents, and a last one with several leaves.
    private static func database(documents: Int, leaves: Int) throws -> Database {
        let database = try Database.inMemory()
        var revisions: [ReplicatedRevision] = []
        for number in 0..<documents {
            let isLast = number == documents - 1
            for leaf in 0..<(isLast ? leaves : 1) {
                let revision = try RevisionID(validating: "1-\(leaf)a")
                revisions.append(
                    ReplicatedRevision(
                        id: try DocumentID(validating: "d\(number)"), history: RevisionHistory(revision),
                        isDeleted: false, body: .empty, attachments: []))
            }
        }
        _ = try database.insertReplicated(revisions)
        return database
    }

    @Test(arguments: [(1, 1), (1, 3), (499, 1), (500, 1), (500, 2), (500, 502), (501, 1), (1200, 3)])
    func `a sequence of a PouchDB dump follows all revisions of the documents up to it`(
        documents: Int, leaves: Int
    ) throws {
        let database = try Self.database(documents: documents, leaves: leaves)
        let text = try Transfer.export(database, Exporter.Options(form: .pouchdb))
        var missing: [DocumentID: Set<RevisionID>] = [:]
        let changes = try database.changes(style: .allLeaves)
        for change in changes { missing[change.id] = Set(change.leaves) }
        var (sequence, lines) = (-1, text.split(separator: "\n").dropFirst())
        while let line = lines.popFirst() {
            let value = try JSONValue(parsing: String(line))
            for document in value["docs"]?.array ?? [] {
                let id = try DocumentID(validating: document["_id"]?.string ?? "")
                missing[id]?.remove(try RevisionID(validating: document["_rev"]?.string ?? ""))
            }
            #expect((value["docs"]?.array?.count ?? 1) <= Self.batch)
            guard let next = value["seq"]?.int else { continue }
            #expect(next > sequence)
            sequence = next
            for change in changes where change.sequence.number <= next {
                #expect(missing[change.id]?.isEmpty == true, "\(change.id) is not whole before \(next)")
            }
        }
        #expect(missing.values.allSatisfy { $0.isEmpty })
        let last = try #require(changes.last)
        #expect(last.sequence.number == sequence)
    }
}
