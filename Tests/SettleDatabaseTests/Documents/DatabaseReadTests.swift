import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

@Suite struct DatabaseReadTests {
    @Test(arguments: Kinds.all)
    func `every revision whose content is kept can be read`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let documents = try (1...4).map { try database.set("a", "v", .number(JSONNumber($0))) }
            for document in documents {
                let revision = try #require(document.revision)
                #expect(try database.document("a", revision: revision) == document)
            }
            #expect(try database.document("a", revision: RevisionID(validating: "9-z")) == nil)
            #expect(try database.document("b", revision: RevisionID(validating: "9-z")) == nil)
            #expect(try database.leaves(of: "b").isEmpty)
            #expect(try database.tree(of: "b") == nil)
        }
    }

    @Test(arguments: Kinds.all)
    func `documents come in the order of their ids' bytes`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let ids: [DocumentID] = ["B", "a", "a\u{0}b", "é", "z", "\u{10000}", "\u{ffff}", "deleted"]
            for id in ids { try database.add(id) }
            try database.delete("deleted")
            let all = try database.documents().map(\.id)
            #expect(all == ["B", "a", "a\u{0}b", "z", "é", "\u{ffff}", "\u{10000}"])
            let descending = try database.documents(in: DocumentRange(descending: true)).map(\.id)
            #expect(descending == all.reversed())
            let middle = DocumentRange(from: "a", through: "z")
            #expect(try database.documents(in: middle).map(\.id) == ["a", "a\u{0}b", "z"])
            let open = DocumentRange(after: "a", before: "z")
            #expect(try database.documents(in: open).map(\.id) == ["a\u{0}b"])
            #expect(try database.documents(in: DocumentRange(from: "z", through: "a")).isEmpty)
            #expect(try database.documents(limit: 2).map(\.id) == ["B", "a"])
            #expect(try database.documents(limit: 0).isEmpty)
        }
    }

    @Test(arguments: Kinds.all)
    func `documents past one page are all listed, both ways`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let ids = try (0..<1203).map { try DocumentID(validating: "d\(10_000 + $0)") }
            try database.saveAll(ids.map { Document(id: $0) }, onConflict: .fail)
            #expect(try database.documents().map(\.id) == ids)
            #expect(try database.documents(in: DocumentRange(descending: true)).map(\.id) == ids.reversed())
            var seen = 0
            try database.forEachDocument { _ in
                seen += 1
                return seen < 700
            }
            #expect(seen == 700)
        }
    }

    @Test(arguments: Kinds.all)
    func `the info counts documents and tombstones`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            #expect(try database.info().documents == DocumentCounts())
            for id: DocumentID in ["a", "b", "c"] { try database.add(id) }
            try database.delete("c")
            try database.saveLocalDocument("_local/x", body: .empty)
            try database.insertReplicated([peer("d", try path("1-a")), peer("d", try path("1-b"))])
            let info = try database.info()
            #expect(info.documents == DocumentCounts(live: 3, deleted: 1))
            #expect(info.conflicts == 1)
            #expect(info.lastSequence == 6)
            #expect(info.blobs == 0)
            #expect(info.revisionLimit == 1000)
            #expect(info.fileSize > 0)
            #expect(info.attachmentFilesSize == 0)
        }
    }

    @Test(arguments: Kinds.all)
    func `everything is read back after reopening`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        let saved = try temporary.database.set("a", "v", [1, 2.5, "x", nil])
        try temporary.database.add("gone")
        try temporary.database.delete("gone")
        try temporary.database.insertReplicated([peer("c", try path("1-a")), peer("c", try path("1-b"))])
        try temporary.reopen()
        #expect(try temporary.database.document("a") == saved)
        #expect(try temporary.database.conflictedDocumentIDs() == ["c"])
        #expect(try temporary.database.lastSequence() == 5)
        #expect(try temporary.database.changes().map(\.sequence.number) == [1, 3, 5])
        #expect(try temporary.database.problems() == [])
    }
}
