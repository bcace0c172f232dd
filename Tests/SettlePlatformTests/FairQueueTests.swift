import SettlePlatform
import SettleTesting
import Testing

struct FairQueueTests {
    /// Removes all that may leave, in order.
    private func drain(_ queue: inout FairQueue<String>, now: Int64 = 0) -> [String] {
        var left: [String] = []
        while let entry = queue.next(now: now) { left.append(entry.element) }
        return left
    }

    private func queue(share: Int = .max, lastShare: Int = .max, _ elements: String...) -> FairQueue<String> {
        var queue = FairQueue<String>(share: share, lastShare: lastShare)
        for element in elements { queue.add(element, for: String(element.prefix(1))) }
        return queue
    }

    @Test func `owners get one element in turn, each in the order in which they came`() {
        var queue = queue("a1", "a2", "a3", "b1", "c1", "c2")
        #expect(queue.count == 6)
        #expect(drain(&queue) == ["a1", "b1", "c1", "a2", "c2", "a3"])
        #expect(queue.count == 0)
    }

    @Test func `an owner has no more than its share under way`() {
        var queue = queue(share: 2, "a1", "a2", "a3", "a4", "b1")
        #expect(drain(&queue) == ["a1", "b1", "a2"])
        queue.finish("b")
        #expect(drain(&queue) == [])
        queue.finish("a")
        #expect(drain(&queue) == ["a3"])
        queue.add("a5", for: "a")
        #expect(drain(&queue) == [])
        queue.finish("a")
        queue.finish("a")
        #expect(drain(&queue) == ["a4", "a5"])
    }

    @Test func `the empty owner has no share`() {
        var queue = FairQueue<Int>(share: 1)
        for number in 0..<5 { queue.add(number, for: "") }
        for number in 0..<5 { #expect(queue.next()?.element == number) }
        #expect(queue.next()?.element == nil)
    }

    @Test func `an owner that was put last waits for all others, until its time is over`() {
        var queue = queue("a1", "a2", "b1", "b2")
        queue.putLast("a", until: 100, now: 0)
        #expect(queue.next(now: 50)?.element == "b1")
        #expect(queue.next(now: 50)?.element == "b2")
        #expect(queue.next(now: 50)?.element == "a1")
        queue.add("b3", for: "b")
        queue.add("a3", for: "a")
        #expect(drain(&queue, now: 100) == ["a2", "b3", "a3"])
    }

    @Test func `an owner that was put last has a smaller share`() {
        var queue = queue(share: 3, lastShare: 1, "a1", "a2", "a3", "b1")
        queue.putLast("a", until: 100, now: 0)
        #expect(drain(&queue, now: 1) == ["b1", "a1"])
        queue.finish("a")
        #expect(drain(&queue, now: 1) == ["a2"])
        #expect(drain(&queue, now: 100) == ["a3"])
    }

    @Test func `what is removed leaves no more, and what is under way still counts`() {
        var queue = queue(share: 1, "a1", "a2", "b1")
        #expect(queue.next()?.element == "a1")
        #expect(queue.removeAll().sorted() == ["a2", "b1"])
        #expect(queue.count == 0)
        queue.add("a3", for: "a")
        #expect(queue.next()?.element == nil)
        queue.finish("a")
        #expect(queue.next()?.element == "a3")
    }

    @Test(arguments: 0..<50)
    func `no element is lost or passed over, whatever happens`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let share = Int.random(in: 1...3, using: &random)
        var queue = FairQueue<Int>(share: share, lastShare: 1)
        var (added, left): ([String: [Int]], [String: [Int]]) = ([:], [:])
        var running: [String: Int] = [:]
        for step in 0..<2000 {
            let owner = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
            let now = Int64(step)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                queue.add(step, for: owner)
                added[owner, default: []].append(step)
            case 3..<6:
                guard let entry = queue.next(now: now) else { break }
                left[entry.owner, default: []].append(entry.element)
                running[entry.owner, default: 0] += 1
                #expect(running[entry.owner] ?? 0 <= share, "seed \(seed), step \(step)")
            case 6:
                guard running[owner] ?? 0 > 0 else { break }
                queue.finish(owner)
                running[owner, default: 0] -= 1
            default: queue.putLast(owner, until: now + 20, now: now)
            }
        }
        while true {
            while let entry = queue.next(now: 10_000) {
                left[entry.owner, default: []].append(entry.element)
                running[entry.owner, default: 0] += 1
            }
            guard let owner = running.first(where: { $0.value > 0 })?.key else { break }
            queue.finish(owner)
            running[owner, default: 0] -= 1
        }
        #expect(left == added, "seed \(seed)")
        #expect(queue.count == 0, "seed \(seed)")
    }
}
