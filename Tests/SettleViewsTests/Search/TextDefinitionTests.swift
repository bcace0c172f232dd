import Settle
import Testing

@testable import SettleViews

struct TextDefinitionTests {
    private func define(_ text: String) throws -> TextIndex {
        try TextDefinition(JSONValue(parsing: text), name: "i", of: "_design/d").index
    }

    @Test func `a text index has the fields and the analyzer of its design document`() throws {
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
        (#"{"default_analyzer":"german"}"#, "no analyzer german"),
        (#"{"default_analyzer":{"name":"perfield","default":"german"}}"#, "no analyzer perfield"),
        (#"{"partial_filter_selector":{"$text":"a"}}"#, "Unsupported operator: $text"),
    ])
    func `an unusable definition gives the reason`(text: String, complaint: String) throws {
        let error = #expect(throws: DatabaseError.self) { try define(text) }
        #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
    }

    @Test func `the tokenizer is that of the default field, or else that of the fields`() throws {
        let fields = #""fields":[{"name":"a","type":"string"}]"#
        #expect(try define(#"{"default_analyzer":"english",\#(fields)}"#).tokenizer == .english)
        // CouchDB writes `keyword` if nothing is given.
        #expect(try define(#"{"default_analyzer":"keyword","default_field":{},\#(fields)}"#).tokenizer == .words)
        #expect(
            try define(#"{"default_analyzer":"keyword","default_field":{"analyzer":"simple"},\#(fields)}"#).tokenizer
                == .letters)
        #expect(
            try define(#"{"default_analyzer":"keyword","default_field":{"enabled":false},\#(fields)}"#).tokenizer
                == .whole)
        for (name, tokenizer) in [
            ("standard", TextTokenizer.words), ("classic", .words), ("simple", .letters), ("keyword", .whole),
            ("whitespace", .unbroken), ("english", .english), ("email", .words(signs: "@._-+")),
        ] {
            #expect(try define(#"{"default_field":{"analyzer":"\#(name)"}}"#).tokenizer == tokenizer)
        }
    }
}
