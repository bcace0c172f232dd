import SettleCore
import Testing

@Suite struct MergeLinesTests {
    private let rules = MergeRules(attributes: ["/t": .lines])

    private func merged(_ base: String, _ versions: String...) -> MergeOutcome {
        ThreeWayMerge.merge(
            base: ["t": .string(base)], versions: versions.map { ["t": .string($0)] }, rules: rules)
    }

    @Test(arguments: [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", "b\nc\nd\n"),
        ("a\nb\nc", "x\na\nb\nc", "a\nb\nc\nd", "x\na\nb\nc\nd"),
        ("a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nD\ne\n", "a\nB\nc\nD\ne\n"),
        ("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\n", "A\r\nb\r\n"),
        ("a\n\n\nb\n", "\n\nb\n", "a\n\n\nb\nc\n", "\n\nb\nc\n"),
    ])
    func `changes to different lines are both kept`(base: String, winner: String, other: String, both: String) {
        #expect(merged(base, winner, other).merged?["t"]?.string == both)
        #expect(merged(base, other, winner).merged?["t"]?.string == both)
    }

    @Test func `three versions merge at once`() {
        let outcome = merged("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "a\nb\nc\nd\n")
        #expect(outcome.merged?["t"]?.string == "A\nb\nC\nd\n")
        #expect(outcome.reason("/t") == .rule(.lines))
    }

    @Test(arguments: [
        ("a\nb\nc\n", "a\nB\nc\n", "a\nX\nc\n"), ("a\nb\n", "A\nb\n", "a\nB\n"), ("a\n", "a\nb\n", "a\nc\n"),
        ("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"), ("a\nb\n", "a\nx\nb\n", "a\nB\n"), ("", "a\n", "b\n"),
        ("a", "a\nb", "A"),
    ])
    func `changes to the same or adjacent lines fall back`(base: String, winner: String, other: String) {
        for versions in [[winner, other], [other, winner]] {
            let outcome = merged(base, versions[0], versions[1])
            #expect(outcome.merged?["t"]?.string == versions[0])
            #expect(outcome.reason("/t") == .fellBack(from: .lines, why: .sameLines, to: .rule(.winner)))
        }
    }

    @Test func `texts that differ in too many lines fall back`() {
        let base = (0..<600).map { "\($0)\n" }.joined()
        let other = (0..<600).map { "other \($0)\n" }.joined()
        let outcome = merged(base, base + "end\n", other)
        #expect(outcome.reason("/t") == .fellBack(from: .lines, why: .tooDifferent, to: .rule(.winner)))
    }

    @Test func `many lines with few changes are merged`() {
        let lines = (0..<50_000).map { "\($0 % 7)\n" }
        var first = lines
        var second = lines
        for place in stride(from: 0, to: 50_000, by: 1_000) {
            first[place] = "first\n"
            second[place + 500] = "second\n"
        }
        let outcome = merged(lines.joined(), first.joined(), second.joined())
        let text = outcome.merged?["t"]?.string?.split(separator: "\n") ?? []
        #expect(text.count { $0 == "first" } == 50)
        #expect(text.count { $0 == "second" } == 50)
        #expect(text.count == 50_000)
    }

    @Test func `values that are not text fall back`() throws {
        let outcome = try merge(#"{"t":"a"}"#, #"{"t":"b"}"#, #"{"t":1}"#, rules: rules)
        #expect(outcome.reason("/t") == .fellBack(from: .lines, why: .notText, to: .rule(.winner)))
    }
}
