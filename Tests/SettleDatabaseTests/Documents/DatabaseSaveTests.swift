import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseSaveTests {
    // SEMANTICS 198
    @Test(arguments: Kinds.all)
    func `a saved document has CouchDB's revision ids and is read back unchanged`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            var document = try database.add("a", ["v": 1])
            #expect(document.revision?.description == "1-7a7e4b29f3af401e69b6f86e4c26b727")
            #expect(try database.document("a") == document)
            document["z"] = "last"
            document["v"] = nil
            document = try database.save(document, onConflict: .fail)
            #expect(document.revision?.generation == 2)
            #expect(try database.document("a")?.body() == ["z": "last"])
            #expect(try database.lastSequence() == 2)
            #expect(try database.add("e", .empty).revision?.description == "1-967a00dff5e02add41819138abb3284d")
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 198
    @Test func `the same edits make the same revisions in any database`() throws {
        let revisions = try Kinds.all.map { kind in
            try withTemporaryDatabase(kind) { database in
                try database.add("x")
                try database.set("x", "w", [1, 2.5, nil])
                return try database.set("x", "v", 7).revision
            }
        }
        #expect(revisions[0] == revisions[1])
        #expect(revisions[0]?.generation == 3)
    }

    @Test(arguments: Kinds.all)
    func `members keep their order`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let body = try DocumentBody(parsing: #"{"z":1,"a":{"y":1.0,"b":[]},"m":"é"}"#)
            try database.add("x", body)
            #expect(try database.document("x")?.body().description == #"{"z":1,"a":{"y":1.0,"b":[]},"m":"é"}"#)
        }
    }

    // SEMANTICS 89
    @Test(arguments: Kinds.all)
    func `a member with an underscore is refused and nothing is written`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            var document = Document(id: "a", body: ["v": 1])
            document["_secret"] = 1
            #expect(code { try database.save(document, onConflict: .fail) } == .invalid)
            #expect(code { try database.save(document, onConflict: .lastWriteWins) } == .invalid)
            #expect(code { try database.save(document, onConflict: .merge { _, _ in true }) } == .invalid)
            #expect(try database.lastSequence() == 0)
            document["_secret"] = nil
            document["nested"] = ["_fine": 1]
            try database.save(document, onConflict: .fail)
            #expect(try database.document("a")?["nested"]?["_fine"] == 1)
        }
    }

    @Test(arguments: Kinds.all)
    func `a body over the limit is refused, one at the limit is accepted`(kind: DatabaseKind) throws {
        var options = DatabaseOptions()
        options.maximumDocumentSize = 20
        try withTemporaryDatabase(kind, options: options) { database in
            #expect(code { try database.add("a", ["v": "12345678901234"]) } == .documentTooLarge)
            #expect(try database.document("a") == nil)
            try database.add("a", ["v": "123456789012"])
        }
    }

    @Test(arguments: Kinds.all)
    func `a local id is refused by save`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            #expect(code { try database.add("_local/x") } == .invalid)
            try database.add("_design/x", ["views": [:]])
            #expect(try database.changes().map(\.id) == ["_design/x"])
        }
    }

    @Test(arguments: Kinds.all)
    func `one bad document of a batch does not stop the others`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("taken")
            var bad = Document(id: "bad")
            bad["_x"] = 1
            let batch = [Document(id: "a"), bad, Document(id: "taken"), Document(id: "b"), Document(id: "a")]
            let results = try database.saveAll(batch, onConflict: .fail)
            let codes = results.map { result in code { try result.get() } }
            #expect(codes == [nil, .invalid, .conflict, nil, .conflict])
            #expect(try database.documents().map(\.id) == ["a", "b", "taken"])
            #expect(try database.lastSequence() == 3)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `a batch can overwrite and merge`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a", ["old": 1])
            let news = [Document(id: "a", body: ["new": 1]), Document(id: "b")]
            let results = try database.saveAll(
                news,
                onConflict: .merge { new, current in
                    new["old"] = current?["old"]
                    return true
                })
            #expect(results.count == 2)
            #expect(try database.document("a")?.body() == ["new": 1, "old": 1])
            let second = try database.saveAll(news, onConflict: .lastWriteWins)
            #expect(try second.map { try $0.get().revision?.generation } == [3, 2])
        }
    }
}
