import SettleCore
import Testing

@Suite struct AttributeClockTests {
    private func clock(_ milliseconds: Int64, _ counter: Int64 = 0, _ device: String = "a") throws -> AttributeClock {
        try #require(AttributeClock(milliseconds: milliseconds, counter: counter, device: device))
    }

    // SEMANTICS 158
    @Test func `clocks are ordered by milliseconds, then counter, then device`() throws {
        let ordered = [
            try clock(1, 9, "z"), try clock(2), try clock(2, 1), try clock(2, 1, "b"), try clock(2, 10), try clock(10),
        ]
        for (place, left) in ordered.enumerated() {
            for (other, right) in ordered.enumerated() {
                #expect((left < right) == (place < other))
                #expect((left == right) == (place == other))
            }
        }
    }

    @Test func `a clock is printed and parsed in one spelling`() throws {
        let value = try clock(1_423_083_473_000, 7, "9f3a6c21")
        #expect(value.description == "1423083473000-7-9f3a6c21")
        #expect(AttributeClock(value.description) == value)
    }

    @Test(arguments: [
        "", "-", "--", "1-2", "1-2-", "1-2-a-b", "-1-2-a", "01-2-a", "1-02-a", "1-2-a b", "1-2-\u{E9}", "+1-2-a",
        "1.0-2-a", "7258118400000-0-a", "9223372036854775807-0-a", "99999999999999999999-0-a", "1-2147483648-a",
        "1-2-" + String(repeating: "a", count: 33),
    ])
    func `malformed clocks are not parsed`(text: String) {
        #expect(AttributeClock(text) == nil)
    }

    @Test func `the successor of a clock is greater, and the last clock has none`() throws {
        let value = try clock(5, 3, "b")
        let next = try #require(value.successor(on: "a"))
        #expect(try next == clock(5, 4, "a") && next > value)
        let full = try clock(5, AttributeClock.maximumCounter)
        #expect(try full.successor(on: "a") == clock(6))
        #expect(try clock(AttributeClock.latest, AttributeClock.maximumCounter).successor(on: "a") == nil)
    }
}
