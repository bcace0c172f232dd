import SettleCore
import SettleQuery
import Testing

/// Invalid selectors, and their errors.
struct SelectorRefusalTests {
    private static let textInside =
        "Unsupported operator: $text inside of another one; it stands beside other conditions, or in $and."

    @Test(arguments: [
        ("[]", "invalid_selector_json", "Selector must be a JSON object, not: []"),
        (#"{"a":{"$foo":1}}"#, "invalid_operator", "Invalid operator: $foo"),
        (#"{"a":{"$regex":5}}"#, "invalid_operator", "Invalid operator: $regex"),
        (#"{"a":{"$beginsWith":null}}"#, "invalid_operator", "Invalid operator: $beginsWith"),
        (#"{"a":{"$where":1}}"#, "not_supported", "Unsupported operator: $where"),
        (#"{"a":{"$near":1}}"#, "not_supported", "Unsupported operator: $near"),
        (#"{"$or":[{"$text":"x"},{"a":1}]}"#, "not_supported", textInside),
        (#"{"$not":{"$and":[{"a":1},{"$text":"x"}]}}"#, "not_supported", textInside),
        (#"{"a":{"$elemMatch":{"$text":"x"}}}"#, "not_supported", textInside),
        (
            #"{"$default":5}"#, "bad_field",
            "Invalid field normalization on selector: {[{<<36,100,101,102,97,117,108,116>>,5}]}"
        ),
        (#"{"$text":[]}"#, "bad_arg", "Bad argument for operator $text: []"),
        (
            #"{"a":{"$text":1}}"#, "bad_field",
            "Invalid field normalization on selector: "
                + "{[{<<36,100,101,102,97,117,108,116>>,{[{<<36,116,101,120,116>>,1}]}}]}"
        ),
        (#"{"$and":{"a":1}}"#, "bad_arg", "Bad argument for operator $and: {[{<<97>>,1}]}"),
        (#"{"$or":1}"#, "bad_arg", "Bad argument for operator $or: 1"),
        (#"{"$nor":"x"}"#, "bad_arg", "Bad argument for operator $nor: <<120>>"),
        (#"{"$not":[1]}"#, "bad_arg", "Bad argument for operator $not: [1]"),
        (#"{"a":{"$in":null}}"#, "bad_arg", "Bad argument for operator $in: null"),
        (#"{"a":{"$mod":[2.5,1]}}"#, "bad_arg", "Bad argument for operator $mod: [2.5,1]"),
        (#"{"a":{"$mod":[2]}}"#, "bad_arg", "Bad argument for operator $mod: [2]"),
        (#"{"a":{"$size":-1}}"#, "bad_arg", "Bad argument for operator $size: -1"),
        (#"{"a":{"$size":1.5}}"#, "bad_arg", "Bad argument for operator $size: 1.5"),
        (#"{"a":{"$exists":1}}"#, "bad_arg", "Bad argument for operator $exists: 1"),
        (#"{"a":{"$type":5}}"#, "bad_arg", "Bad argument for operator $type: 5"),
        (#"{"a":{"$all":{}}}"#, "bad_arg", "Bad argument for operator $all: {[]}"),
        (#"{"a":{"$elemMatch":true}}"#, "bad_arg", "Bad argument for operator $elemMatch: true"),
        (#"{"a":{"$regex":"["}}"#, "bad_arg", "Bad argument for operator $regex: <<91>>"),
        (#"{"a..b":1}"#, "invalid_field_name", "Invalid field name: a..b"),
        (#"{"a":{"":1}}"#, "invalid_field_name", "Invalid field name: a."),
        (#"{"":1}"#, "invalid_selector", "One or more conditions is missing a field name."),
        (#"{"$gt":1}"#, "invalid_selector", "One or more conditions is missing a field name."),
        (#"{"$not":{}}"#, "invalid_selector", "One or more conditions is missing a field name."),
        (#"{"$elemMatch":{"a":1}}"#, "invalid_selector", "One or more conditions is missing a field name."),
    ])
    func `a bad selector is refused in CouchDB's words`(text: String, name: String, reason: String) throws {
        let error = try #require(try SelectorSamples.error(text))
        #expect(error.code.name == name)
        #expect(error.reason == reason)
    }

    @Test func `a selector nested too deeply is refused`() throws {
        for (open, close) in [(#"{"a":"#, "}"), (#"{"$not":"#, "}"), (#"{"$and":["#, "]}")] {
            let text = String(repeating: open, count: 500) + "{}" + String(repeating: close, count: 500)
            #expect(try SelectorSamples.error(text)?.code == .tooDeep)
        }
        var literal: JSONValue = 1
        for _ in 0..<100_000 { literal = [literal] }
        #expect(throws: SelectorError.self) { try MangoSelector(["a": literal]) }
        // Releasing such a deep value recurses, so it is taken apart first.
        while case .array(let inner) = literal { literal = inner[0] }
    }

    @Test func `a selector at the limit works`() throws {
        let depth = MangoSelector.maximumDepth - 1
        let text = String(repeating: #"{"$not":"#, count: depth) + #"{"a":1}"# + String(repeating: "}", count: depth)
        #expect(try !SelectorSamples.matches(text, #"{"a":1}"#))
    }

    @Test func `a wide selector works`() throws {
        let many = JSONValue.array((0..<20_000).map { ["n": ["$eq": .number(JSONNumber($0))]] })
        #expect(try MangoSelector(["$or": many]).matches(["n": 19_999]))
        #expect(try !MangoSelector(["$or": many]).matches(["n": 20_000]))
    }
}
