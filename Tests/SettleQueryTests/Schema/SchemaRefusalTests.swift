import SettleCore
import Testing

@testable import SettleQuery

@Suite struct `JSONValue Schemas that are refused` {
    private func error(_ schema: String) throws -> SchemaError? {
        let json = try JSONValue(parsing: schema)
        return #expect(throws: SchemaError.self) { try JSONSchema(json) }
    }

    @Test(arguments: [
        ("1", ""), ("null", ""),
        (#"{"not":[]}"#, "/not"),
        (#"{"type":"text"}"#, "/type"),
        (#"{"type":[]}"#, "/type"),
        (#"{"type":[1]}"#, "/type"),
        (#"{"enum":1}"#, "/enum"),
        (#"{"maximum":"1"}"#, "/maximum"),
        (#"{"multipleOf":0}"#, "/multipleOf"),
        (#"{"multipleOf":-1}"#, "/multipleOf"),
        (#"{"maxLength":-1}"#, "/maxLength"),
        (#"{"minItems":1.5}"#, "/minItems"),
        (#"{"maxContains":"x"}"#, "/maxContains"),
        (#"{"uniqueItems":1}"#, "/uniqueItems"),
        (#"{"pattern":"("}"#, "/pattern"),
        (#"{"pattern":1}"#, "/pattern"),
        (#"{"pattern":"(?<!a)b"}"#, "/pattern"),
        (#"{"patternProperties":{"*":true}}"#, "/patternProperties/*"),
        (#"{"required":"a"}"#, "/required"),
        (#"{"required":[1]}"#, "/required"),
        (#"{"required":true}"#, "/required"),
        (#"{"dependentRequired":[]}"#, "/dependentRequired"),
        (#"{"properties":[]}"#, "/properties"),
        (#"{"properties":{"a/":1}}"#, "/properties/a~1"),
        (#"{"allOf":{}}"#, "/allOf"),
        (#"{"anyOf":[]}"#, "/anyOf"),
        (#"{"oneOf":[1]}"#, "/oneOf/0"),
        (#"{"prefixItems":true}"#, "/prefixItems"),
        (#"{"$defs":{"unused":{"type":"x"}}}"#, "/$defs/unused/type"),
        (#"{"$ref":1}"#, "/$ref"),
        (#"{"$anchor":1}"#, "/$anchor"),
        (#"{"$anchor":"a","not":{"$anchor":"a"}}"#, "/not/$anchor"),
        (#"{"then":1}"#, "/then"),
    ])
    func `when a keyword is malformed`(schema: String, path: String) throws {
        let error = try error(schema)
        #expect(error?.code == .malformed)
        #expect(error?.path == path)
    }

    @Test(arguments: [
        (#"{"$ref":"https://example.com/a"}"#, "/$ref"),
        (#"{"$ref":"other.json#/a"}"#, "/$ref"),
        (##"{"$dynamicRef":"#a"}"##, "/$dynamicRef"),
        (##"{"$recursiveRef":"#"}"##, "/$recursiveRef"),
        (#"{"$vocabulary":{}}"#, "/$vocabulary"),
        (#"{"not":{"$id":"a"}}"#, "/not/$id"),
        (##"{"$schema":"http://json-schema.org/draft-07/schema#"}"##, "/$schema"),
        (#"{"dependencies":{}}"#, "/dependencies"),
        (#"{"additionalItems":false}"#, "/additionalItems"),
        (#"{"items":[true]}"#, "/items"),
        (#"{"divisibleBy":1}"#, "/divisibleBy"),
    ])
    func `when a keyword is not supported`(schema: String, path: String) throws {
        let error = try error(schema)
        #expect(error?.code == .unsupported)
        #expect(error?.path == path)
    }

    @Test(arguments: ["#/$defs/none", "#none", "#/a/-1", "#/a/01", "#/a/2", "#/~2", "#%", "#%zz", "#a/b"])
    func `when a reference has no target`(reference: String) throws {
        let schema: JSONValue = ["a": [true, true], "allOf": [["$ref": .string(reference)]]]
        let error = #expect(throws: SchemaError.self) { try JSONSchema(schema) }
        #expect(error?.code == .unresolvedReference)
        #expect(error?.path == "/allOf/0/$ref")
    }

    @Test(arguments: [
        ##"{"$ref":"#"}"##, ##"{"allOf":[{"$ref":"#"}]}"##, ##"{"not":{"anyOf":[{"if":{"$ref":"#"}}]}}"##,
        ##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"oneOf":[{"$ref":"#/$defs/a"}]}}}"##,
        ##"{"dependentSchemas":{"a":{"$ref":"#"}}}"##,
    ])
    func `when references form a cycle`(schema: String) throws {
        #expect(try error(schema)?.code == .endlessReference)
    }

    @Test func `when they are nested too deeply`() throws {
        var schema: JSONValue = true
        for _ in 0...JSONLimits.depth { schema = ["not": schema] }
        let error = #expect(throws: SchemaError.self) { try JSONSchema(schema) }
        #expect(error?.code == .tooDeep)
        #expect(error?.description.contains("more than 1024 levels of schemas at /not/not") == true)
    }
}
