import SettleCore
import Testing

@Suite struct ThreeWayMergeTests {
    @Test func `changes to different members all survive`() throws {
        let outcome = try merge(#"{"a":1,"b":1,"c":1}"#, #"{"a":2,"b":1,"c":1}"#, #"{"a":1,"b":2,"c":1,"d":1}"#)
        #expect(outcome.text == #"{"a":2,"b":2,"c":1,"d":1}"#)
    }

    // SEMANTICS 58
    @Test func `a member that one version removed and the other left unchanged stays removed`() throws {
        #expect(try merge(#"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"a":1}"#).text == #"{"a":2}"#)
        #expect(try merge(#"{"a":1,"b":1}"#, #"{"a":1}"#, #"{"a":2,"b":1}"#).text == #"{"a":2}"#)
    }

    @Test func `a member that both removed is gone`() throws {
        #expect(try merge(#"{"a":1,"b":1}"#, #"{"c":1}"#, #"{"d":1}"#).text == #"{"c":1,"d":1}"#)
    }

    @Test func `the same change is taken once`() throws {
        let outcome = try merge(#"{"a":1,"b":1}"#, #"{"a":2,"b":1,"c":1}"#, #"{"a":2,"b":3}"#)
        #expect(outcome.text == #"{"a":2,"b":3,"c":1}"#)
        #expect(outcome.reason("/a") == .sameChange([0, 1]))
    }

    @Test func `the winner decides a clash unless a rule is given`() throws {
        #expect(try merge(#"{"a":1}"#, #"{"a":2}"#, #"{"a":3}"#).text == #"{"a":2}"#)
        #expect(try merge(#"{"a":1}"#, #"{}"#, #"{"a":3}"#).text == "{}")
        #expect(try merge(#"{"a":1}"#, #"{"a":3}"#, #"{}"#).text == #"{"a":3}"#)
        #expect(try merge(#"{}"#, #"{"a":2}"#, #"{"a":3}"#).text == #"{"a":2}"#)
    }

    @Test func `a winner that did not change a member does not undo the others' changes`() throws {
        let outcome = try merge(#"{"a":1,"b":1}"#, #"{"a":1,"b":2}"#, #"{"a":2,"b":1}"#, #"{"a":3,"b":1}"#)
        #expect(outcome.text == #"{"a":2,"b":2}"#)
    }

    @Test func `objects are merged member by member`() throws {
        let outcome = try merge(
            #"{"o":{"a":1,"b":1,"p":{"x":1,"y":1}}}"#, #"{"o":{"a":2,"b":1,"p":{"x":2,"y":1}}}"#,
            #"{"o":{"p":{"x":1,"y":2},"a":1}}"#)
        #expect(outcome.text == #"{"o":{"a":2,"p":{"x":2,"y":2}}}"#)
        #expect(outcome.paths == ["/o", "/o/a", "/o/b", "/o/p", "/o/p/x", "/o/p/y"])
    }

    @Test func `objects that both added are merged member by member`() throws {
        #expect(try merge("{}", #"{"o":{"a":1}}"#, #"{"o":{"b":1}}"#).text == #"{"o":{"a":1,"b":1}}"#)
    }

    @Test func `an object removed in one version and changed in another is a clash`() throws {
        let texts = [#"{"o":{"a":1}}"#, #"{"o":{"a":2}}"#, "{}"]
        #expect(try merge(texts[0], texts[1], texts[2]).text == texts[1])
        #expect(try merge(texts[0], texts[2], texts[1]).text == texts[2])
        #expect(try merge(texts[0], texts[1], texts[2], rules: MergeRules(onClash: .leave)).text == "left")
    }

    @Test func `an object replaced by another kind of value is a clash as a whole`() throws {
        let outcome = try merge(#"{"o":{"a":1}}"#, #"{"o":{"a":2}}"#, #"{"o":[1]}"#)
        #expect(outcome.text == #"{"o":{"a":2}}"#)
        #expect(outcome.paths == ["/o"])
    }

    @Test func `arrays are one value`() throws {
        #expect(try merge(#"{"a":[1]}"#, #"{"a":[1,2]}"#, #"{"a":[1,3]}"#).text == #"{"a":[1,2]}"#)
    }

    @Test func `a null is a value, not a removal`() throws {
        #expect(try merge(#"{"a":1}"#, #"{"a":null}"#, #"{"a":1,"b":null}"#).text == #"{"a":null,"b":null}"#)
        #expect(try merge(#"{"a":null}"#, #"{"b":1}"#, #"{"a":null,"c":1}"#).text == #"{"b":1,"c":1}"#)
    }

    @Test func `integers and floats differ, spellings of one float do not`() throws {
        #expect(try merge(#"{"a":1}"#, #"{"a":1,"b":1}"#, #"{"a":1.0}"#).text == #"{"a":1.0,"b":1}"#)
        let spelled = try merge(#"{"a":1.0}"#, #"{"a":1e0,"b":1}"#, #"{"a":1.00,"c":1}"#)
        #expect(spelled.text == #"{"a":1e0,"b":1,"c":1}"#)
        #expect(spelled.paths == ["/b", "/c"])
    }

    @Test func `names are distinguished by their bytes`() throws {
        let outcome = try merge("{}", "{\"\u{E9}\":1}", "{\"e\u{301}\":2}")
        #expect(outcome.merged?.count == 2)
    }

    @Test func `three versions merge at once`() throws {
        let outcome = try merge(
            #"{"a":1,"b":1,"c":1}"#, #"{"a":2,"b":1,"c":1}"#, #"{"a":1,"b":2,"c":1}"#, #"{"a":1,"b":1}"#)
        #expect(outcome.text == #"{"a":2,"b":2}"#)
    }

    @Test func `a single version is the outcome, and without versions it is the base`() throws {
        #expect(try merge(#"{"a":1}"#, #"{"b":1}"#).text == #"{"b":1}"#)
        #expect(try merge(#"{"a":1}"#).text == #"{"a":1}"#)
    }

    @Test func `a clash left open gives no merged object but lists the other decisions`() throws {
        let rules = MergeRules(attributes: ["/o/a": .leave])
        let outcome = try merge(
            #"{"o":{"a":1,"b":1}}"#, #"{"o":{"a":2,"b":1}}"#, #"{"o":{"a":3,"b":2},"n":1}"#, rules: rules)
        #expect(outcome.merged == nil)
        #expect(outcome.left == ["/o/a"])
        #expect(outcome.paths == ["/o", "/o/a", "/o/b", "/n"])
        #expect(outcome.reason("/o/b") == .onlyOneChanged(1))
    }
}
