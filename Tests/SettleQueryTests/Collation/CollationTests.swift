import SettleCore
import SettleQuery
import SettleTesting
import Testing

/// CouchDB's order of values: it is total, and the documented one.
struct CollationTests {
    @Test func `values are ordered as documented`() throws {
        let text = """
            [null, false, true, -100000000000000000000, -1.5, 0, 0.5, 1, 9007199254740992, 9007199254740993, 1e300,
            "", "_", "a", "A", "\u{E1}", "aa", "b", "B", "ba", "bb", [], [null], ["a"], ["b"], ["b", "c"],
            ["b", "c", "a"], ["b", "d"], {}, {"a": 1}, {"a": 2}, {"b": 1}, {"b": 2}, {"b": 2, "a": 1},
            {"b": 2, "c": 2}]
            """
        let values = try #require(try JSONValue(parsing: text).array)
        for (index, left) in values.enumerated() {
            for (other, right) in values.enumerated() {
                let expected: Collation.Order = index < other ? .before : index == other ? .same : .after
                #expect(Collation.compare(left, right) == expected, "\(left) and \(right)")
            }
        }
    }

    @Test(arguments: [
        ("1", "1.0"), ("0", "-0.0"), ("1e23", "99999999999999991611392"), (#""\u00e9""#, #""e\u0301""#),
        ("[1,[2.0]]", "[1.0,[2]]"), (#"{"\u00e9":1}"#, #"{"e\u0301":1.0}"#),
    ])
    func `different spellings of one value are equal`(left: String, right: String) throws {
        #expect(try Collation.compare(JSONValue(parsing: left), JSONValue(parsing: right)) == .same)
    }

    @Test(arguments: [
        ("1e23", "100000000000000000000000"), ("9007199254740992.0", "9007199254740993"), ("-1.5", "-1"), ("1", "1.5"),
        ("-9223372036854775809", "-9223372036854775808"), ("-1e23", "-99999999999999991611391"),
    ])
    func `numbers are compared exactly`(left: String, right: String) throws {
        let (left, right) = (try JSONValue(parsing: left), try JSONValue(parsing: right))
        #expect(Collation.compare(left, right) == .before)
        #expect(Collation.compare(right, left) == .after)
    }

    @Test func `the order is total`() {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        let all = (0..<120).map { _ in values.value() }
        for first in all {
            #expect(Collation.compare(first, first) == .same)
            for second in all {
                let order = Collation.compare(first, second)
                guard order == Collation.compare(second, first).reversed else {
                    Issue.record("seed \(SeededRandom.seed): \(first) and \(second) are not antisymmetric")
                    return
                }
                guard order != .after else { continue }
                for third in all where Collation.compare(second, third) != .after {
                    let outer = Collation.compare(first, third)
                    let isStrict = order == .before || Collation.compare(second, third) == .before
                    guard outer == (isStrict ? .before : .same) else {
                        Issue.record("seed \(SeededRandom.seed): \(first), \(second), \(third) are not transitive")
                        return
                    }
                }
            }
        }
    }

    @Test func `equal values compare equal, and sorting does not depend on the initial order`() {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        let all = (0..<300).map { _ in values.value() }
        let sorted = all.sorted(by: Collation.isBefore)
        let again = all.shuffled(using: &values.random).sorted(by: Collation.isBefore)
        for (left, right) in zip(sorted, again) {
            #expect(Collation.compare(left, right) == .same, "seed \(SeededRandom.seed)")
        }
    }

    @Test func `deep values are compared without recursion`() {
        var left: JSONValue = 1
        var right: JSONValue = 2
        for _ in 0..<50_000 {
            left = [left]
            right = [right]
        }
        #expect(Collation.compare(left, right) == .before)
        // Releasing such a deep value recurses, so it is taken apart first.
        while case .array(let inner) = left { left = inner[0] }
        while case .array(let inner) = right { right = inner[0] }
    }

    @Test func `many threads can compare at once`() async {
        var values = RandomJSON(random: SeededRandom(seed: SeededRandom.seed))
        let all = (0..<200).map { _ in JSONValue.string(values.string() + values.string()) }
        let orders = await withTaskGroup(of: [Collation.Order].self) { group in
            for _ in 0..<8 {
                group.addTask { all.flatMap { left in all.map { right in Collation.compare(left, right) } } }
            }
            return await group.reduce(into: Set<[Collation.Order]>()) { $0.insert($1) }
        }
        #expect(orders.count == 1)
    }

    @Test func `the order of strings has a version`() { #expect(Collation.version.contains(".")) }
}
