import SettleCore
import Testing

@Suite struct MergeElementsTests {
    private let rules = MergeRules(attributes: ["/l": .array(identifiedBy: "id"), "/l/n": .sum])

    private func merged(_ base: String, _ versions: String..., rules: MergeRules? = nil) throws -> MergeOutcome {
        ThreeWayMerge.merge(
            base: try object(#"{"l":\#(base)}"#), versions: try versions.map { try object(#"{"l":\#($0)}"#) },
            rules: rules ?? self.rules)
    }

    @Test func `elements are merged member by member`() throws {
        let outcome = try merged(
            #"[{"id":1,"a":1,"b":1},{"id":2}]"#, #"[{"id":1,"a":2,"b":1},{"id":2}]"#,
            #"[{"id":1,"a":1,"b":2},{"id":2,"c":1}]"#)
        #expect(outcome.text == #"{"l":[{"id":1,"a":2,"b":2},{"id":2,"c":1}]}"#)
        #expect(outcome.paths == ["/l", "/l/1", "/l/1/a", "/l/1/b", "/l/2"])
    }

    @Test func `elements added by any version are all kept`() throws {
        let outcome = try merged(#"[{"id":"m"}]"#, #"[{"id":"w"},{"id":"m"}]"#, #"[{"id":"m"},{"id":"x"}]"#)
        #expect(outcome.text == #"{"l":[{"id":"w"},{"id":"m"},{"id":"x"}]}"#)
    }

    @Test func `an element that one version removed and no other changed is removed`() throws {
        let outcome = try merged(
            #"[{"id":1},{"id":2},{"id":3}]"#, #"[{"id":1,"a":1},{"id":2},{"id":3}]"#, #"[{"id":1},{"id":3}]"#)
        #expect(outcome.text == #"{"l":[{"id":1,"a":1},{"id":3}]}"#)
        #expect(outcome.reason("/l/2") == .onlyOneChanged(1))
    }

    @Test func `a change to an element outlives its removal`() throws {
        for versions in [["[]", #"[{"id":1,"a":2}]"#], [#"[{"id":1,"a":2}]"#, "[]"]] {
            let outcome = try merged(#"[{"id":1,"a":1}]"#, versions[0], versions[1])
            #expect(outcome.text == #"{"l":[{"id":1,"a":2}]}"#)
        }
        let three = try merged(
            #"[{"id":1,"a":1,"b":1}]"#, "[]", #"[{"id":1,"a":2,"b":1}]"#, #"[{"id":1,"a":1,"b":2}]"#)
        #expect(three.text == #"{"l":[{"id":1,"a":2,"b":2}]}"#)
        #expect(three.reason("/l/1") == .rule(.array(identifiedBy: "id")))
    }

    @Test func `a rule for a member of elements applies to each element`() throws {
        let outcome = try merged(
            #"[{"id":1,"n":1},{"id":2,"n":1}]"#, #"[{"id":1,"n":2},{"id":2,"n":5}]"#,
            #"[{"id":1,"n":2},{"id":2,"n":6}]"#)
        #expect(outcome.text == #"{"l":[{"id":1,"n":3},{"id":2,"n":10}]}"#)
    }

    @Test func `counters add up where several versions changed an array alike`() throws {
        let outcome = try merge(
            #"{"l":[{"id":1,"n":1}]}"#, #"{"l":[{"id":1,"n":2}],"a":1}"#, #"{"l":[{"id":1,"n":2}],"b":1}"#,
            rules: rules)
        #expect(outcome.text == #"{"l":[{"id":1,"n":3}],"a":1,"b":1}"#)
    }

    @Test func `the order comes from the version that moved elements`() throws {
        let outcome = try merged(
            #"[{"id":1},{"id":2},{"id":3}]"#, #"[{"id":1},{"id":2},{"id":3},{"id":4}]"#,
            #"[{"id":3},{"id":5},{"id":1},{"id":2}]"#)
        #expect(outcome.text == #"{"l":[{"id":3},{"id":5},{"id":1},{"id":2},{"id":4}]}"#)
    }

    @Test func `nested arrays of elements are merged by a rule of their own`() throws {
        var rules = rules
        rules["/l/t"] = .array(identifiedBy: "k")
        let outcome = try merged(
            #"[{"id":1,"t":[{"k":"x"}]}]"#, #"[{"id":1,"t":[{"k":"x","a":1}]}]"#,
            #"[{"id":1,"t":[{"k":"x","b":1},{"k":"y/z"}]}]"#, rules: rules)
        #expect(outcome.text == #"{"l":[{"id":1,"t":[{"k":"x","a":1,"b":1},{"k":"y/z"}]}]}"#)
        #expect(outcome.paths.last == "/l/1/t/y~1z")
    }

    @Test func `a clash that is left in an element leaves the document unmerged`() throws {
        var rules = rules
        rules["/l/a"] = .leave
        let outcome = try merged(
            #"[{"id":1,"a":1}]"#, #"[{"id":1,"a":2}]"#, #"[{"id":1,"a":3}]"#, rules: rules)
        #expect(outcome.merged == nil)
        #expect(outcome.left == ["/l/1/a"])
        #expect(outcome.decisions.allSatisfy { $0.result == nil })
    }

    @Test(arguments: [
        (#"[{"id":1}]"#, #"[{"id":1},{"id":1}]"#, #"[{"id":2}]"#, MergeMisfit.noIdentity),
        (#"[{"id":1}]"#, #"[{"id":null}]"#, #"[{"id":2}]"#, .noIdentity),
        ("[]", "[1]", #"[{"id":2}]"#, .noIdentity), ("[]", #"[{"id":1}]"#, #"{"id":2}"#, .notArrays),
    ])
    func `elements without a unique identity fall back to the winner`(
        base: String, winner: String, other: String, why: MergeMisfit
    ) throws {
        let outcome = try merged(base, winner, other)
        #expect(outcome.text == #"{"l":\#(winner)}"#)
        #expect(outcome.reason("/l") == .fellBack(from: .array(identifiedBy: "id"), why: why, to: .rule(.winner)))
    }
}
