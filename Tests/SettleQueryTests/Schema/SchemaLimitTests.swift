import SettleCore
import Testing

@testable import SettleQuery

@Suite struct `Limits of checking against a JSONValue Schema` {
    @Test func `accept recursive values as deep as the limit, and no deeper`() throws {
        let schema = try JSONSchema(["type": "object", "properties": ["a": ["$ref": "#"]]])
        for (depth, expected) in [(SchemaLimits.depth, []), (SchemaLimits.depth + 1, ["limit"])] {
            let text = String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
            #expect(schema.problems(in: try JSONValue(parsing: text)).map(\.keyword) == expected)
        }
        let list = try JSONSchema(["items": ["$ref": "#"], "uniqueItems": true])
        let depth = JSONLimits.depth
        let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(list.problems(in: try JSONValue(parsing: nested)).map(\.keyword) == ["limit"])
    }

    @Test func `stop a validation that goes too deep`() throws {
        let deep: JSONValue = ["$ref": "#"]
        let schema = try JSONSchema(["properties": ["a": ["allOf": [["allOf": [["allOf": [deep]]]]]]]])
        var value: JSONValue = 1
        for _ in 0..<JSONLimits.depth { value = ["a": value] }
        #expect(schema.problems(in: value).map(\.keyword) == ["limit"])
    }

    @Test func `stop a validation that takes too long, and accept nothing by it`() throws {
        var definitions = JSONObject([("d0", ["type": "null"])])
        for level in 1...40 {
            let below: JSONValue = ["$ref": .string("#/$defs/d\(level - 1)")]
            definitions["d\(level)"] = ["anyOf": [["allOf": [below, false]], below]]
        }
        let schema = try JSONSchema(["$defs": .object(definitions), "not": ["$ref": "#/$defs/d40"]])
        var evaluation = SchemaEvaluation(nodes: schema.nodes, tracksEvaluated: false, stepLimit: 100_000)
        #expect(evaluation.run(1).map(\.keyword) == ["limit"])
        #expect(evaluation.run(nil).map(\.keyword) == ["limit"])
    }

    @Test func `do not restrict long chains of references`() throws {
        var definitions = JSONObject([("d0", ["type": "null"])])
        for level in 1...5000 { definitions["d\(level)"] = ["$ref": .string("#/$defs/d\(level - 1)")] }
        let schema = try JSONSchema(["$defs": .object(definitions), "$ref": "#/$defs/d5000"])
        #expect(schema.problems(in: nil) == [])
        #expect(schema.problems(in: 1).map(\.keyword) == ["type"])
    }

    @Test func `hold when many tasks share a schema`() async throws {
        let schema = try JSONSchema(["items": ["pattern": "^a+b$"]])
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { schema.problems(in: ["ab", "b", "aaab", "ba"]).count } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [Int](repeating: 2, count: 8))
    }
}
