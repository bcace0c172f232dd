import SettleCore
import Testing

@Suite struct MergeSumTests {
    private let rules = MergeRules(attributes: ["/n": .sum, "/o/n": .sum])

    @Test(arguments: [
        ("5", ["6", "8"], "9"), ("5", ["6", "6"], "7"), ("5", ["4", "0"], "-1"), ("0", ["-3", "3", "1"], "1"),
        ("9223372036854775807", ["9223372036854775808", "9223372036854775809"], "9223372036854775810"),
        ("-100000000000000000000", ["0", "1"], "100000000000000000001"),
        ("10", ["0", "5", "20"], "5"), ("5", ["0", "10"], "5"), ("100", ["110", "190"], "200"),
        ("0.1", ["0.2", "0.3"], "0.4"), ("0.0", ["0.1", "0.2"], "0.3"), ("1", ["2", "1.5"], "2.5"),
        ("1", ["2.0", "3"], "4.0"), ("1.5", ["0.5", "2.5"], "1.5"), ("-0.5", ["0.25", "-0.75"], "0.0"),
        ("1e22", ["2e22", "1e22", "3e22"], "4e+22"), ("0.0", ["1e-400", "5.0e-324", "1.0"], "1.0"),
        ("0", ["-0.0", "1"], "1.0"),
    ])
    func `a counter is the base plus all increments`(base: String, versions: [String], sum: String) throws {
        let objects = try versions.enumerated().map { try object(#"{"n":\#($0.element),"by":\#($0.offset)}"#) }
        let outcome = ThreeWayMerge.merge(base: try object(#"{"n":\#(base)}"#), versions: objects, rules: rules)
        #expect(outcome.merged?["n"]?.description == sum)
    }

    @Test func `a counter missing in the base starts from zero`() throws {
        #expect(try merge("{}", #"{"n":2}"#, #"{"n":3}"#, rules: rules).text == #"{"n":5}"#)
    }

    @Test func `equal increments in different versions both count`() throws {
        let outcome = try merge(#"{"n":5}"#, #"{"n":6,"a":1}"#, #"{"n":6,"b":1}"#, rules: rules)
        #expect(outcome.text == #"{"n":7,"a":1,"b":1}"#)
        #expect(outcome.reason("/n") == .rule(.sum))
    }

    @Test func `versions that are wholly equal count once`() throws {
        #expect(try merge(#"{"n":5}"#, #"{"n":6}"#, #"{"n":6}"#, rules: rules).text == #"{"n":6}"#)
        #expect(
            try merge(#"{"n":5}"#, #"{"n":6}"#, #"{"n":6}"#, #"{"n":6,"a":1}"#, rules: rules).text
                == #"{"n":7,"a":1}"#)
    }

    @Test func `a counter inside an object that was changed alike counts`() throws {
        let outcome = try merge(#"{"o":{"n":1}}"#, #"{"o":{"n":2},"a":1}"#, #"{"o":{"n":2}}"#, rules: rules)
        #expect(outcome.text == #"{"o":{"n":3},"a":1}"#)
        #expect(outcome.paths == ["/o", "/o/n", "/a"])
    }

    @Test(arguments: [
        (#"{"n":1}"#, #"{"n":2}"#, #"{"n":"3"}"#, MergeMisfit.notNumbers),
        (#"{"n":"1"}"#, #"{"n":2}"#, #"{"n":3}"#, .notNumbers), (#"{"n":1}"#, #"{"n":2}"#, "{}", .removed),
        (#"{"n":0.0}"#, #"{"n":1.7e308}"#, #"{"n":1.6e308}"#, .outOfRange),
    ])
    func `a value that is not a number falls back to the winner`(
        base: String, winner: String, other: String, why: MergeMisfit
    ) throws {
        let outcome = try merge(base, winner, other, rules: rules)
        #expect(outcome.text == winner)
        #expect(outcome.reason("/n") == .fellBack(from: .sum, why: why, to: .rule(.winner)))
    }

    @Test func `the same change of a value that is not a number is taken`() throws {
        let outcome = try merge(#"{"n":"1"}"#, #"{"n":"2","a":1}"#, #"{"n":"2"}"#, rules: rules)
        #expect(outcome.text == #"{"n":"2","a":1}"#)
        #expect(outcome.reason("/n") == .sameChange([0, 1]))
    }

    @Test func `an integer may grow to the most digits JSONValue allows, and no further`() throws {
        let half = "5" + String(repeating: "0", count: 65_535)
        let less = "4" + String(repeating: "0", count: 65_535)
        let fits = try merge(#"{"n":0}"#, #"{"n":\#(less)}"#, #"{"n":\#(half)}"#, rules: rules)
        #expect(fits.merged?["n"]?.number?.text == "9" + String(repeating: "0", count: 65_535))
        let grown = try merge(#"{"n":0}"#, #"{"n":\#(half)}"#, #"{"n":\#(half)}"#, #"{"n":1}"#, rules: rules)
        #expect(grown.merged?["n"]?.number?.text == "5" + String(repeating: "0", count: 65_534) + "1")
        let tooLarge = try merge(#"{"n":0}"#, #"{"n":\#(half)}"#, #"{"n":\#(half),"a":1}"#, rules: rules)
        #expect(tooLarge.reason("/n") == .sameChange([0, 1]))
    }
}
