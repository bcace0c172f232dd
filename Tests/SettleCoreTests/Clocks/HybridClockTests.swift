import SettleCore
import SettleTesting
import Testing

@Suite struct HybridClockTests {
    private let day: Int64 = 86_400_000
    private let noon: Int64 = 1_423_137_600_000

    private func shownBy(_ clock: inout HybridClock, _ wall: Int64, server: Int64? = nil) -> Int64? {
        clock.tick(wall: wall, server: server)?.milliseconds
    }

    @Test func `a tick gives the wall clock's time, and counts while that stands still`() throws {
        var clock = HybridClock(device: "a")
        let shown = [noon, noon, noon, noon + 1].compactMap { clock.tick(wall: $0) }
        #expect(shown.map(\.milliseconds) == [noon, noon, noon, noon + 1])
        #expect(shown.map(\.counter) == [0, 1, 2, 0])
    }

    // SEMANTICS 159
    @Test(arguments: Seeds.all)
    func `the clock never goes back, whatever the wall clock does`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var clock = HybridClock(device: "a")
        var wall = noon
        var last: AttributeClock?
        for _ in 0..<200 {
            wall +=
                random.chance(10)
                ? Int64.random(in: -day...day, using: &random) : Int64.random(in: 0...50, using: &random)
            let shown = clock.tick(wall: wall)
            let next = try #require(shown)
            #expect(last.map { $0 < next } ?? true, "seed \(seed)")
            last = next
        }
    }

    @Test func `a tick is later than every clock learned before`() throws {
        var clock = HybridClock(device: "a")
        let seen = try #require(AttributeClock(milliseconds: noon + 30_000, counter: 4, device: "z"))
        clock.learn(seen, wall: noon)
        let next = clock.tick(wall: noon)
        #expect(try #require(next) > seen)
    }

    // SEMANTICS 159
    @Test func `a clock far ahead is not learned`() throws {
        var clock = HybridClock(device: "a")
        clock.learn(try #require(AttributeClock(milliseconds: noon + day, device: "z")), wall: noon)
        let next = clock.tick(wall: noon)
        #expect(next?.milliseconds == noon)
    }

    // SEMANTICS 159
    @Test func `a server's time limits a clock far ahead, also after earlier ticks`() throws {
        var clock = HybridClock(device: "a")
        let shown1 = shownBy(&clock, noon + day)
        #expect(shown1 == noon + day)
        let shown2 = shownBy(&clock, noon + day, server: noon)
        #expect(shown2 == noon)
        let next = clock.tick(wall: noon + day, server: noon)
        #expect(next?.counter == 1)
    }

    @Test func `a clock far behind a server's time is set to the server's`() {
        var clock = HybridClock(device: "a")
        let shown3 = shownBy(&clock, noon - day, server: noon)
        #expect(shown3 == noon)
    }

    @Test func `a wall clock near a server's time is trusted`() {
        var clock = HybridClock(device: "a")
        let shown4 = shownBy(&clock, noon + 900, server: noon)
        #expect(shown4 == noon + 900)
        let shown5 = shownBy(&clock, noon + 60_000, server: noon)
        #expect(shown5 == noon + 60_000)
        let shown6 = shownBy(&clock, noon + 60_001, server: noon)
        #expect(shown6 == noon + 60_000)
    }

    @Test(arguments: [Int64.min, -1, 0, AttributeClock.latest + 1, Int64.max])
    func `a wall clock out of range gives a valid clock`(wall: Int64) throws {
        var clock = HybridClock(device: "a")
        let shown = (0..<2).compactMap { _ in clock.tick(wall: wall) }
        #expect(shown.count == 2 && shown[0] < shown[1])
        #expect(shown.allSatisfy { 0...AttributeClock.latest ~= $0.milliseconds })
        let shown7 = shownBy(&clock, wall, server: noon)
        #expect(shown7 == noon)
    }

    @Test(arguments: [Int64.min, -1, 0, AttributeClock.latest + 1, Int64.max])
    func `a wall clock of any value can be compared with a server's time of any value`(wall: Int64) {
        #expect(HybridClock.time(wall: wall, server: 0) == 0)
        #expect(HybridClock.time(wall: wall, server: .min) == 0)
        #expect(HybridClock.time(wall: wall, server: .max) == AttributeClock.latest)
    }
}
