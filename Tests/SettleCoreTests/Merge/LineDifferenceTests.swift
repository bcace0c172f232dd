import SettleTesting
import Testing

@testable import SettleCore

@Suite struct LineDifferenceTests {
    @Test(arguments: Seeds.all)
    func `the edits turn one list into the other, and no shorter script exists`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let old = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...3, using: &random) }
            let new = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...3, using: &random) }
            let edits = try #require(LineDifference.edits(from: old, to: new, limit: 24))
            var made: [Int] = []
            var done = 0
            for edit in edits {
                #expect(done == 0 || edit.lines.lowerBound > done, "seed \(seed)")
                made += old[done..<edit.lines.lowerBound] + edit.replacement
                done = edit.lines.upperBound
            }
            #expect(made + old[done...] == new, "seed \(seed): \(old) \(new)")
            let steps = edits.map { $0.lines.count + $0.replacement.count }.reduce(0, +)
            #expect(steps == old.count + new.count - 2 * longestCommon(old, new), "seed \(seed): \(old) \(new)")
            if steps > 0 { #expect(LineDifference.edits(from: old, to: new, limit: steps - 1) == nil, "seed \(seed)") }
        }
    }

    /// How many elements two lists have in common, in order, by the textbook's table.
    private func longestCommon(_ left: [Int], _ right: [Int]) -> Int {
        var row = [Int](repeating: 0, count: right.count + 1)
        for element in left {
            var next = row
            for (index, other) in right.enumerated() {
                next[index + 1] = element == other ? row[index] + 1 : max(row[index + 1], next[index])
            }
            row = next
        }
        return row[right.count]
    }
}
