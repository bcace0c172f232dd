import Settle
import SettleTesting
import Testing

@testable import SettleReplication

struct SequenceTrackerTests {
    private func sequence(_ number: Int) -> PeerSequence { PeerSequence(.number(JSONNumber(number))) }

    @Test func `a position passes a row only when it and all rows before it are done`() {
        var tracker = SequenceTracker(at: sequence(10))
        #expect(tracker.add([11, 12, 15].map(sequence), through: sequence(20)) == 0)
        #expect(tracker.position == sequence(10))
        tracker.finish(1)
        #expect(tracker.position == sequence(10))
        tracker.finish(0)
        #expect(tracker.position == sequence(12))
        tracker.finish(2)
        #expect(tracker.position == sequence(20))
        #expect(tracker.add([], through: sequence(30)) == 3)
        #expect(tracker.position == sequence(30))
    }

    @Test func `a held row holds the position, but not the flow`() {
        var tracker = SequenceTracker(at: sequence(0))
        _ = tracker.add((1...5).map(sequence), through: sequence(5))
        tracker.hold(2)
        for row in [0, 1, 3, 4] { tracker.finish(row) }
        #expect(tracker.openCount == 0)
        #expect(tracker.position == sequence(2))
        tracker.finish(2)
        #expect(tracker.position == sequence(5))
    }

    @Test func `rows held beyond the capacity hold the position permanently`() {
        var tracker = SequenceTracker(at: sequence(0))
        let count = SequenceTracker.maximumHeld + 50
        _ = tracker.add((1...count).map(sequence), through: sequence(count))
        for row in 0..<count { tracker.hold(row) }
        #expect(tracker.openCount == 0)
        #expect(tracker.position == sequence(0))
        for row in 0..<count { tracker.finish(row) }
        #expect(tracker.position == sequence(SequenceTracker.maximumHeld))
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `the tracker agrees with a list of all rows`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var tracker = SequenceTracker(at: sequence(0))
        var rows: [(before: Int, isDone: Bool, isHeld: Bool)] = []
        var end = 0
        for _ in 0..<2000 {
            if random.oneIn(4) {
                let count = random.below(5)
                var numbers: [Int] = []
                for _ in 0..<count {
                    rows.append((numbers.last ?? end, false, false))
                    numbers.append((numbers.last ?? end) + 1 + random.below(3))
                }
                end = (numbers.last ?? end) + random.below(2)
                _ = tracker.add(numbers.map(sequence), through: sequence(end))
            } else if !rows.isEmpty {
                let row = max(0, rows.count - 1 - random.below(20))
                if random.oneIn(4) {
                    tracker.hold(row)
                    if !rows[row].isDone { rows[row].isHeld = true }
                } else {
                    tracker.finish(row)
                    rows[row].isDone = true
                }
            }
            let expected = rows.first { !$0.isDone }?.before ?? end
            #expect(tracker.position == sequence(expected), "seed \(seed)")
            #expect(tracker.openCount == rows.filter { !$0.isDone && !$0.isHeld }.count, "seed \(seed)")
        }
    }
}
