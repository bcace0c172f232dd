import SettleCore
import SettleQuery
import SettleTesting
import Testing

/// Laws that hold for any selector and any document. A failure prints the seed that reproduces it.
struct SelectorLawTests {
    private static let names = ["a", "b", "c"]

    /// A document that has the members `a`, `b` and `c`, because negations match only existing members.
    private func document(_ values: inout RandomJSON) -> JSONValue {
        .object(JSONObject(Self.names.map { ($0, values.value(depth: 2)) }))
    }

    private func condition(_ values: inout RandomJSON) -> JSONValue {
        let operators = ["$lt", "$lte", "$eq", "$ne", "$gte", "$gt", "$in", "$nin", "$all", "$type"]
        let name = operators.randomElement(using: &values.random) ?? "$eq"
        let argument: JSONValue =
            switch name {
            case "$in", "$nin", "$all": .array((0..<2).map { _ in values.value(depth: 2) })
            case "$type": .string(["string", "number", "array"].randomElement(using: &values.random) ?? "")
            default: values.value(depth: 2)
            }
        return [Self.names.randomElement(using: &values.random) ?? "a": [name: argument]]
    }

    private func selector(_ values: inout RandomJSON, depth: Int = 3) -> JSONValue {
        guard depth > 0, Int.random(in: 0..<3, using: &values.random) > 0 else { return condition(&values) }
        let parts = (0..<Int.random(in: 1...3, using: &values.random)).map { _ in selector(&values, depth: depth - 1) }
        return switch Int.random(in: 0..<4, using: &values.random) {
        case 0: ["$and": .array(parts)]
        case 1: ["$or": .array(parts)]
        case 2: ["$nor": .array(parts)]
        default: ["$not": parts[0]]
        }
    }

    private func matches(_ selector: JSONValue, _ document: JSONValue) throws -> Bool {
        try MangoSelector(selector).matches(document)
    }

    @Test func `the laws of logic hold where no member is missing`() throws {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        for _ in 0..<3_000 {
            let document = document(&values)
            let (left, right) = (selector(&values), selector(&values))
            let (isLeft, isRight) = (try matches(left, document), try matches(right, document))
            let hint: Comment = "seed \(SeededRandom.seed): \(left), \(right), \(document)"
            try #require(try matches(["$not": left], document) == !isLeft, hint)
            try #require(try matches(["$and": [left, right]], document) == (isLeft && isRight), hint)
            try #require(try matches(["$or": [left, right]], document) == (isLeft || isRight), hint)
            try #require(try matches(["$nor": [left, right]], document) == !(isLeft || isRight), hint)
            try #require(try matches(["$not": ["$not": left]], document) == isLeft, hint)
        }
    }

    @Test func `comparisons agree with the order of values`() throws {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        for _ in 0..<3_000 {
            let (value, other) = (values.value(), values.value())
            let order = Collation.compare(value, other).rawValue
            let hint: Comment = "seed \(SeededRandom.seed): \(value), \(other)"
            let expected: [(String, Bool)] = [
                ("$lt", order < 0), ("$lte", order <= 0), ("$eq", order == 0), ("$ne", order != 0),
                ("$gte", order >= 0), ("$gt", order > 0),
            ]
            for (name, isMatch) in expected {
                try #require(try matches(["v": [name: other]], ["v": value]) == isMatch, hint)
                try #require(try !matches(["v": [name: other]], ["w": value]), hint)
                let elements: JSONValue = ["v": ["$elemMatch": [name: other]]]
                try #require(try matches(elements, ["v": [value]]) == isMatch, hint)
            }
            let isIn = value.array.map { $0.contains { Collation.compare($0, other) == .same } } ?? (order == 0)
            try #require(try matches(["v": ["$in": [other]]], ["v": value]) == isIn, hint)
            try #require(try matches(["v": ["$nin": [other]]], ["v": value]) == !isIn, hint)
        }
    }

    @Test func `a missing member never matches a condition on it`() throws {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        for _ in 0..<2_000 {
            let one = condition(&values)
            for selector: JSONValue in [one, ["$not": one], ["$nor": [one]]] {
                try #require(try !matches(selector, ["d": 1]), "seed \(SeededRandom.seed): \(selector)")
            }
        }
    }
}
