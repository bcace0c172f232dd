/// Contractions, and code points whose elements depend on the one in front of them.
extension CollationElements {
    /// Continues with the elements of a code point that was read, and of those that belong to it.
    mutating func takeContext(of point: UInt32, _ entry: UInt32) {
        let alone = CollationRun(place: entry >> 8, count: Int(entry & 31))
        let contractions = table.contractions
        if passed.isEmpty, let front = front(of: point), let run = contractions.run(of: point, after: front) {
            return take(run)
        }
        if passed.isEmpty {
            guard place < text.count else { return take(alone) }
            var end = place
            let next = Self.point(of: text, at: &end)
            let step = contractions.step(from: point, by: next)
            if let step, let run = step.run, !step.goesOn {
                place = end
                return take(run)
            }
            if step == nil, contractions.firstClass(of: next) == 0 { return take(alone) }
        }
        takeContraction(of: point, alone)
    }

    /// Finds the longest contraction, then lengthens it with marks that stand behind others of lower classes.
    private mutating func takeContraction(of point: UInt32, _ alone: CollationRun) {
        let contractions = table.contractions
        var ahead = CollationAhead(self)
        var (run, state, matched) = (alone, point, 0)
        var (index, reached) = (0, point)
        while let next = ahead.point(at: index), let step = contractions.step(from: reached, by: next) {
            (index, reached) = (index + 1, step.state)
            if let found = step.run { (run, state, matched) = (found, reached, index) }
        }
        var removed: [Int] = []
        if let first = ahead.point(at: matched), contractions.firstClass(of: first) > 0 {
            var last = contractions.lastClass(of: first)
            index = matched + 1
            while let next = ahead.point(at: index), case let own = contractions.firstClass(of: next), own > 0 {
                if last < own, let step = contractions.step(from: state, by: next), let found = step.run {
                    (run, state) = (found, step.state)
                    removed.append(index)
                    if !step.goesOn { break }
                } else {
                    last = contractions.lastClass(of: next)
                }
                index += 1
            }
        }
        (passed, place) = ahead.rest(after: matched, without: removed)
        take(run)
    }

    /// The code point in front of one that was just read from the text.
    private func front(of point: UInt32) -> UInt32? {
        var start = place - (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4)
        guard start > 0 else { return nil }
        repeat { start -= 1 } while start > 0 && text[start] & 0xC0 == 0x80
        return Self.point(of: text, at: &start)
    }
}

/// The code points that follow, read as far as they are asked for.
private struct CollationAhead {
    private let text: UnsafeBufferPointer<UInt8>
    private var points: [UInt32]
    /// Where the text goes on after each of the points.
    private var ends: [Int]

    init(_ elements: CollationElements) {
        text = elements.text
        points = Array(elements.passed)
        ends = Array(repeating: elements.place, count: points.count + 1)
    }

    mutating func point(at index: Int) -> UInt32? {
        while index >= points.count {
            var end = ends[points.count]
            guard end < text.count else { return nil }
            points.append(CollationElements.point(of: text, at: &end))
            ends.append(end)
        }
        return points[index]
    }

    /// The points to come before the text goes on, and where it does.
    func rest(after matched: Int, without removed: [Int]) -> (ArraySlice<UInt32>, Int) {
        let used = max(matched, (removed.last ?? -1) + 1)
        let held = ends.prefix { $0 == ends[0] }.count - 1
        let end = max(used, held)
        let rest = (matched..<end).filter { !removed.contains($0) }.map { points[$0] }
        return (rest[...], ends[end])
    }
}
