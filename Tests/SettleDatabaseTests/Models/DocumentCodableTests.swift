import PostgresTesting
import Settle
import SettleCore
import SettleTesting
import Testing

@Suite struct DocumentCodableTests {
    private struct Note: Codable, Equatable {
        var title: String
        var count: Int
        var tags: [String]
        var due: Double?
    }

    private struct Odd: Codable {
        var _id = "x"
    }

    // SEMANTICS 198
    @Test func `a model is stored in declaration order and decoded again`() throws {
        try withTemporaryDatabase(.plain) { database in
            let note = Note(title: "Milk", count: 2, tags: ["a"], due: 1.5)
            let saved = try database.save(Document(id: "n", encoding: note), onConflict: .fail)
            #expect(try saved.body().description == #"{"title":"Milk","count":2,"tags":["a"],"due":1.5}"#)
            let asText = try DocumentBody(parsing: #"{"title":"Milk","count":2,"tags":["a"],"due":1.5}"#)
            #expect(RevisionHasher().revision(of: asText) == saved.revision)
            #expect(try database.document("n")?.decode(Note.self) == note)
        }
    }

    @Test func `changing a model keeps id, revision and attachments of its document`() throws {
        try withTemporaryDatabase(.plain) { database in
            var document = try Document(id: "n", encoding: Note(title: "a", count: 1, tags: [], due: nil))
            document.attach(try database.makeAttachment("x", content: [1]))
            document = try database.save(document, onConflict: .fail)
            try document.setBody(encoding: Note(title: "b", count: 2, tags: [], due: nil))
            let changed = try database.save(document, onConflict: .fail)
            #expect(changed.revision?.generation == 2)
            #expect(changed.attachments.map(\.name) == ["x"])
            #expect(try changed.decode(Note.self).title == "b")
        }
    }

    // SEMANTICS 89
    @Test func `a value that is no JSONValue object is refused as a body and changes nothing`() throws {
        var document = Document(id: "n", body: ["v": 1])
        let reserved = #expect(throws: DatabaseError.self) { try document.setBody(encoding: Odd()) }
        #expect(reserved?.code == .invalid)
        let list = #expect(throws: DatabaseError.self) { try document.setBody(encoding: [1, 2]) }
        #expect(list?.code == .invalid)
        #expect(throws: EncodingError.self) { try document.setBody(encoding: ["v": Double.nan]) }
        #expect(document["v"] == 1)
        #expect(throws: DecodingError.self) { try document.decode(Note.self) }
    }
}
