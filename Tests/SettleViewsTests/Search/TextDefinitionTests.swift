import Settle
import Testing

@testable import SettleViews

struct TextDefinitionTests {
    private func define(_ text: String) throws -> TextIndex {
        try TextDefinition(JSON(parsing: text), name: "i", of: "_design/d").index
    }

    @Test func `a design document's index has the fields and the analyzer it names`() throws {
        let plain = try define("{}")
        #expect(plain.hasDefaultColumn && plain.fields.isEmpty && plain.tokenizer == .words)
        let fields = try define(
            #"{"default_field":{"enabled":false},"fields":[{"name":"a.[].b","type":"string"},{"name":"n","type":"number"}]}"#
        )
        #expect(!fields.hasDefaultColumn && fields.fields.map(\.path) == ["a.[].b"])
        #expect(try define(#"{"default_field":{"analyzer":"english"}}"#).tokenizer == .english)
        #expect(try define(#"{"default_field":false,"fields":["t"]}"#).fields == ["t"])
        #expect(try define(#"{"fields":"all_fields"}"#).fields.isEmpty)
        #expect(try define("{}").fileName.hasPrefix("text-"))
        #expect(try define("{}").fileName != define(#"{"fields":["t"]}"#).fileName)
    }

    @Test(arguments: [
        (#"[]"#, "must be an object"), (#"{"default_field":false}"#, "there must be `fields`"),
        (#"{"default_field":{"analyzer":"german"}}"#, "no analyzer german; those there are: classic, email, english"),
        (#"{"fields":5}"#, "`fields` must be an array"), (#"{"fields":[{"name":"a"}]}"#, "a field is"),
        (#"{"partial_filter_selector":{"a":{"$x":1}}}"#, "the filter can't be read"),
        (#"{"default_field":5}"#, "`default_field`"),
    ])
    func `a definition that can't be used says why`(text: String, complaint: String) throws {
        let error = #expect(throws: DatabaseError.self) { try define(text) }
        #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
    }

    @Test func `indexes of design documents are found, and answer with ranks for other conditions to be added`() throws
    {
        let database = try Database.inMemory()
        let design = #"""
            {"language":"query","indexes":{"books":{"index":{"default_field":{"enabled":true},\#
            "fields":[{"name":"title","type":"string"}],"partial_filter_selector":{"kind":"book"}},"analyzer":{}},\#
            "bad":{"index":{"fields":7}}}}
            """#
        try database.save(
            Document(id: "_design/texts", body: try DocumentBody(JSON(parsing: design))), onConflict: .fail)
        for (id, kind, title) in [("a", "book", "red cat"), ("b", "book", "blue cat"), ("c", "film", "red cat")] {
            let body: DocumentBody = ["kind": .string(kind), "title": .string(title), "note": "dog"]
            try database.save(Document(id: DocumentID(stringLiteral: id), body: body), onConflict: .fail)
        }
        let index = try #require(TextDefinition.all(in: database).first?.index)
        #expect(try TextDefinition.all(in: database).count == 1)
        // Words side by side mean any of them, as in Lucene.
        let (rows, sequence) = try database.documents(matching: "red cat", in: index)
        #expect(rows.map(\.id) == ["a", "b"] && rows[0].score > rows[1].score)
        #expect(try sequence == database.lastSequence())
        #expect(try database.documents(matching: "title:blue", in: index).rows.map(\.id) == ["b"])
        #expect(try database.documents(matching: "title:dog", in: index).rows.isEmpty)
        #expect(try database.documents(matching: "dog AND NOT blue", in: index).rows.map(\.id) == ["a"])
        #expect(try TextDefinition.fileNames(of: database) == [index.fileName])
    }
}
