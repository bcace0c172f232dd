import PostgresTesting
import Settle
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// Edits as a server receives them.
@Suite struct DatabaseEditsTests {
    private func write(_ database: Database, _ edits: DocumentEdit...) throws -> [String] {
        try database.write(edits).map { result in
            switch result {
            case .success(let revision): "\(revision.generation)"
            case .failure(let error): error.code.name
            }
        }
    }

    @Test(arguments: Kinds.all)
    func `edits follow CouchDB's rules`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let unknown = RevisionID("1-abc")
            #expect(try write(database, DocumentEdit(id: "a", parent: unknown, body: .empty)) == ["conflict"])
            #expect(try write(database, DocumentEdit(id: "a", parent: nil, body: .empty)) == ["1"])
            #expect(try write(database, DocumentEdit(id: "a", parent: nil, body: .empty)) == ["conflict"])
            let first = try #require(try database.document("a")?.revision)
            #expect(try write(database, DocumentEdit(id: "a", parent: first, isDeleted: true, body: ["v": 1])) == ["2"])
            let tombstone = try #require(try database.record(of: "a")?.tree.winner?.revision)
            #expect(try database.document("a", revision: tombstone)?["v"] == 1)
            // All its leaves are tombstones: none can be edited, but the document can be revived.
            #expect(try write(database, DocumentEdit(id: "a", parent: tombstone, body: .empty)) == ["conflict"])
            #expect(
                try write(database, DocumentEdit(id: "a", parent: nil, isDeleted: true, body: .empty)) == ["conflict"])
            #expect(try write(database, DocumentEdit(id: "a", parent: nil, body: .empty)) == ["3"])
        }
    }

    @Test func `a tombstone may be the first revision, and a tombstone beside a live leaf may be edited`() throws {
        try withTemporaryDatabase(.plain) { database in
            #expect(try write(database, DocumentEdit(id: "a", parent: nil, isDeleted: true, body: .empty)) == ["1"])
            #expect(try database.counts() == DocumentCounts(live: 0, deleted: 1))
            let dead = try #require(try database.record(of: "a")?.tree.winner?.revision)
            let history = try RevisionHistory(start: 1, signatures: [#require(RevisionSignature("b"))])
            try database.insertReplicated([ReplicatedRevision(id: "a", history: history)])
            #expect(try write(database, DocumentEdit(id: "a", parent: dead, body: .empty)) == ["2"])
        }
    }

    @Test func `a batch is written in the order of its ids, and a refused edit does not stop the others`() throws {
        try withTemporaryDatabase(.plain) { database in
            let outcome = try write(
                database, DocumentEdit(id: "c", parent: nil, body: .empty),
                DocumentEdit(id: "a", parent: nil, body: .empty), DocumentEdit(id: "a", parent: nil, body: .empty),
                DocumentEdit(id: "b", parent: nil, body: .empty))
            #expect(outcome == ["1", "1", "conflict", "1"])
            #expect(try database.changes().map(\.id) == ["a", "b", "c"])
        }
    }

    @Test(arguments: Kinds.all)
    func `documents and changes are counted by index`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for number in 0..<20 {
                try database.save(Document(id: DocumentID(validating: "d\(number + 10)")), onConflict: .fail)
            }
            for name in ["d10", "d15", "d29"] { try database.delete(DocumentID(validating: name)) }
            #expect(try database.countLive(in: DocumentRange()) == 17)
            #expect(try database.countLive(in: DocumentRange(before: "d15")) == 4)
            #expect(try database.countLive(in: DocumentRange(after: "d15")) == 13)
            #expect(try database.countLive(in: DocumentRange(from: "d15", through: "d16")) == 1)
            #expect(try database.count(changedIn: SequenceRange()) == 20)
            #expect(try database.count(changedIn: SequenceRange(after: 20)) == 3)
            #expect(try database.count(changedIn: SequenceRange(after: 3, through: 5)) == 2)
        }
    }

    @Test func `a notice is delivered once, also when it is late or the database closes`() throws {
        try withTemporaryDatabase(.plain) { database in
            let calls = Guarded<[Bool]>([])
            let note: @Sendable (Bool) -> Void = { goesOn in calls.withLock { $0.append(goesOn) } }
            _ = database.notify(after: 0, note)
            #expect(calls.withLock { $0 } == [])
            try database.save(Document(id: "a"), onConflict: .fail)
            try database.save(Document(id: "b"), onConflict: .fail)
            #expect(calls.withLock { $0 } == [true])
            _ = database.notify(after: 1, note)
            #expect(calls.withLock { $0 } == [true, true])
            let number = database.notify(after: 2, note)
            database.cancelNotice(number)
            database.cancelNotice(number)
            _ = database.notify(after: 2, note)
            database.close()
            #expect(calls.withLock { $0 } == [true, true, false, false])
        }
    }

    @Test func `a peer's attachment without a revpos may keep none`() throws {
        try withTemporaryDatabase(.plain) { database in
            let attachment = try database.makeAttachment("x", content: [1])
            let history = try RevisionHistory(start: 4, signatures: [#require(RevisionSignature("d"))])
            var revision = ReplicatedRevision(id: "a", history: history, attachments: [attachment])
            revision.keepsZeroRevpos = true
            try database.insertReplicated([revision])
            #expect(try database.document("a")?.attachments.map(\.revpos) == [0])
        }
    }
}
