import SettleCore
import Testing

@Suite struct MergeUnionTests {
    private let rules = MergeRules(attributes: ["/t": .union])

    @Test(arguments: [
        ("[1,2,3]", ["[1,2,3,4]", "[2,3,5]"], "[2,3,4,5]"), ("[1,2]", ["[2]", "[1]"], "[]"),
        ("[1]", ["[1,2,3]", "[1,3,2]"], "[1,2,3]"), ("[]", [#"["b"]"#, #"["a","b"]"#, #"["c"]"#], #"["b","a","c"]"#),
        ("[1,1]", ["[1,2,2]", "[1,1,3]"], "[1,2,3]"), ("[1]", ["[1,1.0]", "[]"], "[1.0]"),
        ("[1]", [#"[1,{"a":[]}]"#, #"[1,[{}]]"#], #"[1,{"a":[]},[{}]]"#),
    ])
    func `a set loses elements that any version removed and gains those that any added`(
        base: String, versions: [String], merged: String
    ) throws {
        let objects = try versions.map { try object(#"{"t":\#($0)}"#) }
        let outcome = ThreeWayMerge.merge(base: try object(#"{"t":\#(base)}"#), versions: objects, rules: rules)
        #expect(outcome.text == #"{"t":\#(merged)}"#)
        #expect(outcome.reason("/t") == .rule(.union))
    }

    @Test func `sets that both versions added are united`() throws {
        #expect(try merge("{}", #"{"t":[1]}"#, #"{"t":[2]}"#, rules: rules).text == #"{"t":[1,2]}"#)
    }

    @Test(arguments: [
        (#"{"t":[1]}"#, #"{"t":[2]}"#, #"{"t":3}"#, MergeMisfit.notArrays),
        (#"{"t":1}"#, #"{"t":[2]}"#, #"{"t":[3]}"#, .notArrays), (#"{"t":[1]}"#, #"{"t":[2]}"#, "{}", .removed),
    ])
    func `a value that is not a set falls back to the winner`(
        base: String, winner: String, other: String, why: MergeMisfit
    ) throws {
        let outcome = try merge(base, winner, other, rules: rules)
        #expect(outcome.text == winner)
        #expect(outcome.reason("/t") == .fellBack(from: .union, why: why, to: .rule(.winner)))
    }
}
