import SettleCore
import Testing

@Suite struct MergeRulesTests {
    @Test func `a rule for an object decides about it as a whole`() throws {
        let rules = MergeRules(attributes: ["/o": .winner])
        let outcome = try merge(#"{"o":{"a":1,"b":1}}"#, #"{"o":{"a":2,"b":1}}"#, #"{"o":{"a":1,"b":2}}"#, rules: rules)
        #expect(outcome.text == #"{"o":{"a":2,"b":1}}"#)
        #expect(outcome.paths == ["/o"])
    }

    @Test func `a rule is found by the path with escaped names`() throws {
        let rules = MergeRules(attributes: ["/a~1b/c~0d": .sum, "/": .union])
        let outcome = try merge(
            #"{"a/b":{"c~d":1},"":[]}"#, #"{"a/b":{"c~d":2},"":[1]}"#, #"{"a/b":{"c~d":3},"":[2]}"#, rules: rules)
        #expect(outcome.text == #"{"a/b":{"c~d":4},"":[1,2]}"#)
        #expect(outcome.paths == ["/a~1b", "/a~1b/c~0d", "/"])
    }

    @Test func `a rule is found by the bytes of names`() throws {
        let rules = MergeRules(attributes: ["/\u{E9}": .sum])
        #expect(rules["/e\u{301}"] == nil)
        let outcome = try merge("{}", "{\"\u{E9}\":1,\"e\u{301}\":1}", "{\"\u{E9}\":2,\"e\u{301}\":2}", rules: rules)
        #expect(outcome.merged?["\u{E9}"] == 3)
        #expect(outcome.merged?["e\u{301}"] == 1)
    }

    @Test func `where a rule does not fit an object, its members are merged`() throws {
        let rules = MergeRules(attributes: ["/o": .union])
        let outcome = try merge(#"{"o":{}}"#, #"{"o":{"a":1}}"#, #"{"o":{"b":1}}"#, rules: rules)
        #expect(outcome.text == #"{"o":{"a":1,"b":1}}"#)
        #expect(outcome.reason("/o") == .fellBack(from: .union, why: .notArrays, to: .mergedInside))
    }

    @Test func `where a rule does not fit, the default rule applies`() throws {
        let rules = MergeRules(onClash: .leave, attributes: ["/a": .sum])
        let outcome = try merge(#"{"a":1}"#, #"{"a":"x"}"#, #"{"a":2}"#, rules: rules)
        #expect(outcome.merged == nil)
        #expect(outcome.left == ["/a"])
        #expect(outcome.reason("/a") == .fellBack(from: .sum, why: .notNumbers, to: .left))
    }

    @Test func `where the default rule does not fit, the winner decides`() throws {
        let rules = MergeRules(onClash: .lines, attributes: ["/a": .sum])
        let outcome = try merge(#"{"a":1,"b":1}"#, #"{"a":true,"b":2}"#, #"{"a":2,"b":3}"#, rules: rules)
        #expect(outcome.text == #"{"a":true,"b":2}"#)
        #expect(
            outcome.reason("/a")
                == .fellBack(
                    from: .sum, why: .notNumbers, to: .fellBack(from: .lines, why: .notText, to: .rule(.winner))))
    }

    @Test func `a function gets the clash and returns the value`() throws {
        let longest = MergeRule.custom("longest") { clash in
            let texts = clash.changed.compactMap { clash.versions[$0]?.string }
            return texts.max { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map(JSONValue.string)
        }
        let rules = MergeRules(onClash: longest)
        let outcome = try merge(
            #"{"a":"x","b":1}"#, #"{"a":"x","b":2}"#, #"{"a":"xy","b":3}"#, #"{"a":"xyz","b":1}"#, rules: rules)
        #expect(outcome.text == #"{"a":"xyz"}"#)
        #expect(outcome.reason("/a") == .rule(.custom("longest")))
        #expect(outcome.decisions.map(\.result) == ["xyz", nil])
    }

    @Test func `rules can be read and set by path`() {
        var rules = MergeRules(attributes: ["/b": .sum])
        rules["/a"] = .union
        rules["/b"] = nil
        rules["c"] = .leave
        rules["/d~2"] = .leave
        #expect(rules.paths == ["/a", "/d~2", "c"])
        #expect(rules.badPaths == ["/d~2", "c"])
        #expect(rules["/a"]?.kind == .union)
        #expect(rules["/b"] == nil)
    }

    @Test func `reasons read as plain English`() {
        let name = { (index: Int) in ["2-b", "2-a"][index] }
        #expect(MergeReason.onlyOneChanged(1).explained(naming: name) == "only 2-a changed it")
        #expect(MergeReason.sameChange([0, 1]).explained(naming: name) == "2-b, 2-a made the same change")
        let fellBack = MergeReason.fellBack(from: .sum, why: .notNumbers, to: .left)
        #expect(
            fellBack.explained(naming: name)
                == "the rule “sum” does not fit, for not all values are numbers; clash, left in conflict")
        let kinds: [MergeRule] = [.winner, .sum, .union, .array(identifiedBy: "id"), .lines, .leave]
        #expect(
            kinds.map(\.kind.description)
                == ["winner", "sum", "union", "array identified by id", "lines", "leave"])
    }

    @Test func `a decision lists all values`() throws {
        let outcome = try merge(#"{"a":1}"#, #"{"a":1}"#, #"{"a":2}"#, #"{}"#)
        let decision = try #require(outcome.decisions.first)
        #expect(decision.path == "/a")
        #expect(decision.base == 1)
        #expect(decision.versions == [1, 2, nil])
        #expect(decision.result == 2)
        #expect(decision.reason == .rule(.winner))
    }
}
