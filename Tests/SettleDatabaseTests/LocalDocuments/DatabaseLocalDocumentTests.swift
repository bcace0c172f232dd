import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

@Suite struct DatabaseLocalDocumentTests {
    // SEMANTICS 203
    @Test(arguments: Kinds.all)
    func `a local document is stored, numbered by its writes, and absent from changes`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        try temporary.database.saveLocalDocument("_local/c", body: ["v": 1])
        let second = try temporary.database.saveLocalDocument("_local/c", body: ["v": 2])
        #expect(second.revision == "0-2")
        try temporary.reopen()
        let database = temporary.database
        #expect(try database.localDocument("_local/c") == second)
        #expect(try database.changes().isEmpty)
        #expect(try database.documents().isEmpty)
        #expect(try database.document("_local/c") == nil)
        #expect(try database.lastSequence() == 0)
        #expect(try database.info().documents == DocumentCounts())
        #expect(try database.problems() == [])
    }

    @Test(arguments: Kinds.all)
    func `deleting restarts the numbering`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.saveLocalDocument("_local/c", body: .empty)
            #expect(try database.deleteLocalDocument("_local/c"))
            #expect(try !database.deleteLocalDocument("_local/c"))
            #expect(try database.localDocument("_local/c") == nil)
            #expect(try database.saveLocalDocument("_local/c", body: .empty).revision == "0-1")
        }
    }

    @Test(arguments: Kinds.all)
    func `another id is refused`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database throws in
            #expect(code { try database.saveLocalDocument("c", body: .empty) } == .invalid)
            #expect(try database.document("c") == nil)
        }
    }

    @Test(arguments: Kinds.all)
    func `local documents are listed in order, a page at a time`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for id: DocumentID in ["_local/b", "_local/a", "_local/c"] {
                try database.saveLocalDocument(id, body: .empty)
            }
            #expect(try database.localDocuments().map(\.id) == ["_local/a", "_local/b", "_local/c"])
            #expect(try database.localDocuments(after: "_local/a", limit: 1).map(\.id) == ["_local/b"])
        }
    }
}
