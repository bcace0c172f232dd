import SettleCore
import Testing

@testable import SettleQuery

/// The work of a selector is counted in steps, so its result never depends on time.
@Suite struct SelectorWorkTests {
    /// A search that takes its whole budget in a text of 41 letters.
    private static let hostile: JSONValue = ["$regex": "^(a+)+$"]
    private static let text = JSONValue.string(String(repeating: "a", count: 40) + "!")

    @Test func `a search that backtracks takes few steps in a short text`() throws {
        let work = SelectorWork(1_000_000)
        #expect(try !MangoSelector(["a": Self.hostile]).matches(["a": Self.text], work: work))
        #expect(work.available > 800_000)
    }

    @Test func `the elements of one document share its steps`() throws {
        let elements = JSONValue.array([JSONValue](repeating: Self.text, count: 100_000))
        let work = SelectorWork(10_000_000)
        let selector = try MangoSelector(["a": ["$elemMatch": Self.hostile]])
        #expect(!selector.matches(["a": elements], work: work))
        #expect(work.isSpent)
    }

    @Test func `spent steps make no condition match, not even a negated one`() throws {
        let elements = JSONValue.array([JSONValue](repeating: Self.text, count: 1000))
        for selector: JSONValue in [
            ["$not": ["a": ["$elemMatch": Self.hostile]]], ["$nor": [["a": ["$elemMatch": Self.hostile]]]],
        ] {
            #expect(try MangoSelector(selector).matches(["a": elements]) == false)
        }
        #expect(try MangoSelector(["$not": ["a": ["$elemMatch": ["$regex": "b"]]]]).matches(["a": elements]))
    }

    @Test func `a search begins only while a client waits for the result`() throws {
        let work = SelectorWork(1_000_000, isWanted: { false })
        #expect(try !MangoSelector(["a": ["$regex": "b"]]).matches(["a": "b"], work: work))
        #expect(work.isSpent)
    }

    @Test func `comparisons count before they are made`() throws {
        let many = JSONValue.array((0..<5000).map { JSONValue.number(JSONNumber($0)) })
        let work = SelectorWork(1_000_000)
        for name in ["$in", "$nin", "$all"] {
            #expect(try !MangoSelector(["a": .object([name: many])]).matches(["a": many], work: work))
            #expect(work.isSpent)
        }
        #expect(try MangoSelector(["a": ["$in": many]]).matches(["a": 4999]))
    }
}
