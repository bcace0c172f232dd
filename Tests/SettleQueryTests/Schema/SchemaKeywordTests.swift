import SettleCore
import Testing

@testable import SettleQuery

@Suite struct `Keywords of a JSONValue Schema` {
    /// Checks a value, both given as JSON text, and gives the problems as text.
    private func problems(_ schema: String, _ value: String) throws -> [String] {
        try JSONSchema(JSONValue(parsing: schema)).problems(in: JSONValue(parsing: value)).map(\.description)
    }

    @Test(arguments: [
        (#"{"type":"integer"}"#, "1.0", "1.5"),
        (#"{"type":"integer"}"#, "1e300", #""1""#),
        (#"{"type":["null","boolean"]}"#, "null", "0"),
        (#"{"type":"number"}"#, "1e-400", "null"),
        (#"{"enum":[1,{"a":1,"b":[2]}]}"#, #"{"b":[2.0],"a":1e0}"#, #"{"a":1}"#),
        (#"{"const":[]}"#, "[]", "{}"),
        (#"{"const":0}"#, "-0.0", "false"),
        (#"{"maximum":18446744073709551616}"#, "18446744073709551616", "18446744073709551617"),
        (#"{"minimum":-0.1}"#, "-0.1", "-0.10000000000000000000001"),
        (#"{"exclusiveMaximum":2}"#, "1.999", "2.0"),
        (#"{"exclusiveMinimum":2}"#, "2.000000000000000000001", "2"),
        (#"{"multipleOf":0.01}"#, "4.35", "4.351"),
        (#"{"multipleOf":0.0001}"#, "0.0075", "0.00751"),
        (#"{"multipleOf":7}"#, "7e300", "1e300"),
        (#"{"multipleOf":1e-8}"#, "12391239123", "1e-9"),
        (#"{"multipleOf":20}"#, "1e2", "1e1"),
        (#"{"multipleOf":3}"#, "0", "-4"),
        (#"{"maxLength":2}"#, #""😀é""#, #""e\#u{301}x""#),
        (#"{"minLength":2}"#, #""e\#u{301}""#, #""é""#),
        (#"{"pattern":"^a+$"}"#, #""aa""#, #""aa\n""#),
        (#"{"pattern":"b"}"#, #""abc""#, #""ac""#),
        (#"{"pattern":"^\\d$"}"#, #""1""#, #""٣""#),
        (#"{"maxItems":1}"#, "[1]", "[1,2]"),
        (#"{"minItems":1.0}"#, "[1]", "[]"),
        (#"{"uniqueItems":true}"#, #"[1,true,"1",[1],{"a":1}]"#, #"[{"a":1,"b":2},{"b":2,"a":1.0}]"#),
        (#"{"contains":{"type":"null"}}"#, "[1,null]", "[1]"),
        (#"{"contains":true,"minContains":2}"#, "[1,2]", "[1]"),
        (#"{"contains":{"const":1},"maxContains":1}"#, "[1,2]", "[1,1]"),
        (#"{"prefixItems":[true,{"type":"null"}],"items":false}"#, "[1,null]", "[1,null,2]"),
        (#"{"maxProperties":1}"#, #"{"a":1}"#, #"{"a":1,"b":2}"#),
        (#"{"minProperties":1}"#, #"{"a":1}"#, "{}"),
        (#"{"required":["a"]}"#, #"{"a":null}"#, #"{"b":1}"#),
        (#"{"dependentRequired":{"a":["b"]}}"#, #"{"b":1}"#, #"{"a":1}"#),
        (#"{"dependentSchemas":{"a":{"maxProperties":1}}}"#, #"{"b":1,"c":2}"#, #"{"a":1,"c":2}"#),
        (#"{"properties":{"a":false}}"#, #"{"b":1}"#, #"{"a":1}"#),
        (#"{"patternProperties":{"^x":{"type":"null"}}}"#, #"{"ax":1}"#, #"{"xa":1}"#),
        (
            #"{"properties":{"a":true},"patternProperties":{"b":true},"additionalProperties":false}"#,
            #"{"a":1,"bb":2}"#, #"{"c":1}"#
        ),
        (#"{"propertyNames":{"maxLength":1}}"#, #"{"a":1}"#, #"{"ab":1}"#),
        (#"{"allOf":[{"minimum":1},{"maximum":2}]}"#, "1", "3"),
        (#"{"anyOf":[{"minimum":5},{"type":"null"}]}"#, "null", "3"),
        (#"{"oneOf":[{"minimum":2},{"maximum":3}]}"#, "1", "2"),
        (#"{"not":{"type":"null"}}"#, "1", "null"),
        (#"{"if":{"minimum":0},"then":{"maximum":9},"else":false}"#, "9", "-1"),
        (#"{"unevaluatedProperties":false,"allOf":[{"properties":{"a":true}}]}"#, #"{"a":1}"#, #"{"b":1}"#),
        (
            #"{"unevaluatedItems":false,"anyOf":[{"prefixItems":[true]},{"prefixItems":[true,true]}]}"#, "[1,2]",
            "[1,2,3]"
        ),
        (##"{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"null"}}}"##, "null", "1"),
        (##"{"$ref":"#n","$defs":{"x":{"$anchor":"n","type":"null"}}}"##, "null", "1"),
        (#"{"$id":"urn:x","properties":{"a":{"$ref":"urn:x#"}},"minProperties":1}"#, #"{"a":{"a":1}}"#, #"{"a":{}}"#),
        (##"{"properties":{"next":{"$ref":"#"}},"type":"object"}"##, #"{"next":{"next":{}}}"#, #"{"next":{"next":1}}"#),
    ])
    func `accept one value and reject the other`(schema: String, good: String, bad: String) throws {
        #expect(try problems(schema, good) == [])
        #expect(try problems(schema, bad) != [])
    }

    @Test func `report every violation with its place and keyword`() throws {
        let schema = """
            {"type":"object","required":["id","x"],"properties":{"id":{"type":"string"},
             "list":{"items":{"maximum":3,"multipleOf":2}},"a/b~":{"properties":{"":false}}},"additionalProperties":false}
            """
        let value = #"{"id":1,"list":[2,5],"a/b~":{"":1},"more":null}"#
        #expect(
            try problems(schema, value) == [
                "(root): required: there is no member \"x\"",
                "/id: type: expected string, found a number",
                "/list/1: maximum: is more than 3",
                "/list/1: multipleOf: is not a multiple of 2",
                "/a~1b~0/: false: nothing is allowed here",
                "/more: false: nothing is allowed here",
            ])
    }

    @Test func `apply to members by the bytes of their names`() throws {
        // The same letter as one character, and as two.
        let (one, two) = ("\u{E9}", "e\u{301}")
        let named = "{\"properties\":{\"\(one)\":{\"type\":\"string\"},\"\(two)\":{\"type\":\"number\"}}}"
        let referring = """
            {"properties":{"a":{"$ref":"#\(one)"},"b":{"$ref":"#\(two)"}},
             "$defs":{"a":{"$anchor":"\(one)","type":"string"},"b":{"$anchor":"\(two)","type":"number"}}}
            """
        for (schema, first, second) in [(named, one, two), (referring, "a", "b")] {
            #expect(try problems(schema, "{\"\(first)\":\"x\",\"\(second)\":1}") == [])
            #expect(try problems(schema, "{\"\(first)\":1,\"\(second)\":\"x\"}").count == 2)
        }
    }

    @Test func `throw the first violation`() throws {
        let schema = try JSONSchema(["properties": ["a": ["type": "null"]], "required": ["b"]])
        let problem = #expect(throws: SchemaProblem.self) { try schema.validate(["a": 1]) }
        #expect(problem?.path == "/a")
        #expect(problem?.keyword == "type")
        try schema.validate(["b": 1])
    }

    @Test(arguments: [
        "title", "description", "default", "format", "examples", "$comment", "readOnly", "x-mine", "contentSchema",
    ])
    func `are ignored where they only annotate`(keyword: String) throws {
        let schema = try JSONSchema(.object(JSONObject([(keyword, JSONValue.object(["type": "no type"]))])))
        #expect(schema.problems(in: 1) == [])
        #expect(try JSONSchema(true).problems(in: 1) == [])
        #expect(try JSONSchema(false).problems(in: 1).map(\.keyword) == ["false"])
    }
}
