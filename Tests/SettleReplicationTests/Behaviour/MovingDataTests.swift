import Settle
import SettleTesting
import Testing

@testable import SettleReplication

/// What the guides for those who come from other databases promise; their code is in `Snippets/MovingData.swift`.
@Suite(.timeLimit(.minutes(5)))
struct MovingDataTests {
    /// Stores a revision with its history, newest first.
    private func take(_ id: DocumentID, revisions: [String], body: DocumentBody, into database: Database) throws {
        let path = try revisions.map { try RevisionID(validating: $0) }
        let newest = try #require(path.first)
        let history = try RevisionHistory(start: newest.generation, signatures: path.map(\.signature))
        try database.insertReplicated([ReplicatedRevision(id: id, history: history, body: body)])
    }

    @Test func `documents that are moved with their revisions are those of the server, and edits of them follow`()
        async throws
    {
        let (here, server) = try await PeerPair.local[0].make()
        try take("milk", revisions: ["2-b1", "1-a0"], body: ["count": 2], into: server.database)
        try take("milk", revisions: ["3-c2", "2-b1", "1-a0"], body: ["count": 3], into: here.database)
        try await Replicator(here.database, with: server.peer).run()
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
        #expect(try server.database.conflictedDocumentIDs().isEmpty)
        #expect(try server.database.document("milk")?.revision?.description == "3-c2")
    }

    @Test func `documents that are moved without their revisions conflict with those of the server`() async throws {
        let (here, server) = try await PeerPair.local[0].make()
        try take("milk", revisions: ["2-b1", "1-a0"], body: ["count": 2], into: server.database)
        try here.database.save(Document(id: "milk", body: ["count": 3]))
        try await Replicator(here.database, with: server.peer).run()
        #expect(try here.database.conflictedDocumentIDs() == ["milk"])
    }

    @Test
    func
        `devices that make the same document of the same object don't conflict, in whatever order they have the fields`()
        async throws
    {
        let (here, server) = try await PeerPair.local[0].make()
        let fields: [(String, JSONValue)] = [("name", "Bread"), ("count", 1)]
        for (database, fields) in [(here.database, fields), (server.database, fields.reversed())] {
            var document = Document(id: "item:7", body: ["type": "item"])
            for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) { document[name] = value }
            try database.save(document)
        }
        try await Replicator(here.database, with: server.peer).run()
        #expect(try here.database.conflictedDocumentIDs().isEmpty)
        #expect(try here.database.leaves(of: "item:7").count == 1)
    }

    @Test(arguments: [true, false])
    func `a change of all documents that every device makes conflicts only if it depends on the device`(
        isPure: Bool
    ) async throws {
        let (here, server) = try await PeerPair.local[0].make()
        try here.database.save(Document(id: "p", body: ["name": "Ada"]))
        try await Replicator(here.database, with: server.peer).run()
        for (database, device) in [(here.database, "phone"), (server.database, "tablet")] {
            try database.updateIfNeeded("p") { person in
                person["schema"] = 2
                person["by"] = isPure ? nil : .string(device)
                return true
            }
        }
        try await Replicator(here.database, with: server.peer).run()
        #expect(try here.database.conflictedDocumentIDs() == (isPure ? [] : ["p"]))
    }
}
