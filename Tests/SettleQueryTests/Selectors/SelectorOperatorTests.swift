import SettleCore
import SettleTesting
import Testing

@testable import SettleQuery

/// The table of operators.
struct SelectorOperatorTests {
    /// An argument that each operator accepts.
    private static let arguments: [String: JSONValue] = [
        "$in": [1, "a"], "$nin": [1, "a"], "$elemMatch": ["$gt": 1], "$allMatch": ["$gt": 1],
        "$keyMapMatch": ["$eq": "a"],
        "$all": [1], "$size": 1, "$beginsWith": "a", "$regex": "^a", "$exists": true, "$type": "string",
        "$mod": [3, 1],
    ]

    @Test func `names and words are unique`() {
        let names = SelectorOperator.all.map(\.name)
        let words = SelectorOperator.all.compactMap(\.word?.text)
        #expect(Set(names).count == names.count && names.allSatisfy { $0.hasPrefix("$") })
        #expect(Set(words).count == words.count)
        #expect(SelectorOperator.all.compactMap(\.sign) == ["=", "!=", "<", "<=", ">", ">="])
    }

    @Test func `the normal form of every operator is its own normal form`() throws {
        for row in SelectorOperator.all {
            let argument = Self.arguments[row.name] ?? 5
            let normal = try MangoSelector(["a": .object([row.name: argument])]).normal
            // Inside of parts, as CouchDB shows it, the path to the part itself is the empty one.
            let shown: JSONValue = row.isOfParts ? ["": argument] : argument
            #expect(normal == ["a": .object([row.name: shown])])
            #expect(try MangoSelector(normal).normal == normal)
        }
        #expect(try MangoSelector(JSONValue(parsing: #"{"a":{"$size":-0}}"#)).normal == ["a": ["$size": 0]])
    }

    @Test func `an opposite holds for a value if the operator does not, and is opposed by it`() throws {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        var count = 0
        for row in SelectorOperator.all {
            let argument = Self.arguments[row.name] ?? 5
            guard case .test(let test) = try row.node(argument), case .test(let opposite)? = try test.negated() else {
                continue
            }
            count += 1
            guard case .test(let again)? = try opposite.negated() else {
                Issue.record("\(opposite.name) has no opposite")
                continue
            }
            #expect(again.name == row.name && again.argument == test.argument)
            let match = SelectorMatch(work: SelectorWork(SelectorWork.document))
            for _ in 0..<200 where row.name != "$exists" {
                let value = values.value(depth: 2)
                #expect(
                    try test.passes(value, match) != opposite.passes(value, match),
                    "\(row.name) \(value), seed \(SeededRandom.seed)")
            }
        }
        #expect(count == 9)
    }

    @Test(arguments: [
        (#"{"age":{"$gt":30},"city":"Brno"}"#, ["age > 30", #"city = "Brno""#]),
        (
            #"{"$and":[{"a":{"$ne":1}},{"$or":[{"b":1},{"c":2}]}]}"#,
            ["a != 1", #"{"$or":[{"b":{"$eq":1}},{"c":{"$eq":2}}]}"#]
        ),
        (#"{"a":{"$elemMatch":{"$eq":1}}}"#, [#"a $elemMatch {"":{"$eq":1}}"#]),
        (#"{"$not":{"a":{"$type":"string"}}}"#, [#"a $not {"$type":"string"}"#]),
        (#"{"a":{"$beginsWith":"x"},"$text":"y"}"#, [#"a $beginsWith "x""#, #"{"$default":{"$text":"y"}}"#]),
        ("{}", []),
    ])
    func `the parts of a selector are written as text`(selector: String, parts: [String]) throws {
        #expect(try MangoSelector(JSONValue(parsing: selector)).parts.map(\.description) == parts)
    }

    @Test func `an error lists the words of all operators`() throws {
        func reason(_ text: String) throws -> String {
            try #require(throws: ConditionError.self) { try MangoSelector.json(ofCondition: text) }.message
        }
        let words = "in contains begins matches exists"
        #expect(try reason("a ~ 1").contains("has no meaning"))
        #expect(try reason("a b").contains("after a must follow one of = == != < <= > >= \(words) missing, at b"))
        #expect(try reason("a not b").contains("after a not must follow one of \(words), at b"))
        #expect(try reason("a in 1").contains("an array must follow in, such as [1, 2]"))
        #expect(try reason("a matches 1").contains("a quoted text must follow matches"))
    }
}
