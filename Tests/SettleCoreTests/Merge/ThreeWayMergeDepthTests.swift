import SettleCore
import Testing

@Suite struct ThreeWayMergeDepthTests {
    /// Nested objects, the innermost with an additional member.
    private func nested(
        _ depth: Int, in wrap: (JSONValue) -> JSONValue, _ name: String, _ value: JSONValue
    ) throws -> JSONObject {
        var inner: JSONValue = ["id": 1, "x": 0]
        inner[name] = value
        for _ in 1..<depth { inner = wrap(inner) }
        return try #require(inner.object)
    }

    @Test func `objects are merged down to the depth limit of JSONValue`() throws {
        let wrap = { (inner: JSONValue) -> JSONValue in ["id": 1, "o": inner] }
        let outcome = ThreeWayMerge.merge(
            base: try nested(1024, in: wrap, "x", 0),
            versions: [try nested(1024, in: wrap, "a", 1), try nested(1024, in: wrap, "b", 2)])
        let text = JSONValue.object(try #require(outcome.merged)).utf8
        let both = #"{"id":1,"x":0,"a":1,"b":2}"#
        #expect(String(decoding: text, as: UTF8.self).contains(both))
        #expect(outcome.decisions.count == 1025)
        #expect(try JSONValue(utf8: text) == .object(outcome.merged ?? [:]))
    }

    @Test func `an object below the depth limit is one value`() throws {
        let wrap = { (inner: JSONValue) -> JSONValue in ["id": 1, "o": inner] }
        let versions = [try nested(1500, in: wrap, "a", 1), try nested(1500, in: wrap, "b", 2)]
        let outcome = ThreeWayMerge.merge(base: try nested(1500, in: wrap, "x", 0), versions: versions)
        #expect(outcome.merged == versions[0])
        #expect(outcome.decisions.last?.reason == .rule(.winner))
    }

    @Test func `nested arrays of elements are merged down to the depth limit of JSONValue`() throws {
        let wrap = { (inner: JSONValue) -> JSONValue in ["id": 1, "l": [inner]] }
        let outcome = ThreeWayMerge.merge(
            base: try nested(512, in: wrap, "x", 0),
            versions: [try nested(512, in: wrap, "a", 1), try nested(512, in: wrap, "b", 2)],
            rules: MergeRules(onClash: .array(identifiedBy: "id")))
        let merged = JSONValue.object(try #require(outcome.merged)).description
        #expect(merged.contains(#"{"id":1,"x":0,"a":1,"b":2}"#))
    }

    @Test func `the time to merge grows with the number of members`() throws {
        let base = JSONObject((0..<20_000).map { ("\($0)", .number(JSONNumber($0))) })
        var versions = [base, base, base]
        for place in 0..<20_000 {
            if place % 3 < 2 { versions[place % 3]["\(place)"] = .string("changed") }
        }
        versions[2]["new"] = true
        let outcome = ThreeWayMerge.merge(base: base, versions: versions)
        #expect(outcome.merged?.count == 20_001)
        #expect(outcome.decisions.count == 13_335)
    }
}
