/// The collation elements of a text in UTF-8, one after another.
struct CollationElements {
    let table: CollationTable
    let text: UnsafeBufferPointer<UInt8>
    /// The position of the next code point.
    var place: Int
    /// Marks that were skipped by a contraction; they come before the rest of the text.
    var passed: ArraySlice<UInt32> = []
    private var run: UnsafePointer<UInt64>
    private var runCount = 0
    /// The remaining Jamo of a syllable, sixteen bits each.
    private var jamo: UInt64 = 0

    init(of text: UnsafeBufferPointer<UInt8>, from place: Int, in table: CollationTable) {
        self.text = text
        self.place = place
        self.table = table
        run = table.elements(from: 0)
    }

    /// The next element; zero at the end.
    @inline(__always)
    mutating func next() -> UInt64 {
        while runCount == 0 {
            guard let point = nextPoint() else { return 0 }
            let entry = table.entry(of: point)
            if entry & 0xFF == 0xFF { return UInt64(entry & 0xFFFF_FF00) << 32 | CollationTable.common }
            if entry & CollationTable.hasContext != 0 {
                adoptContext(of: point, entry)
            } else if entry != 0 {
                adopt(CollationRun(place: entry >> 8, count: Int(entry & 31)))
            } else if point >= 0xAC00, point <= 0xD7A3 {
                adoptHangul(point - 0xAC00)
            } else {
                return CollationTable.unassigned(point)
            }
        }
        runCount -= 1
        defer { run += 1 }
        return run.pointee
    }

    /// Continues with elements of the table.
    @inline(__always)
    mutating func adopt(_ new: CollationRun) {
        run = table.elements(from: new.place)
        runCount = new.count
    }

    @inline(__always)
    private mutating func nextPoint() -> UInt32? {
        if jamo != 0 {
            defer { jamo >>= 16 }
            return UInt32(jamo & 0xFFFF)
        }
        if !passed.isEmpty { return passed.removeFirst() }
        guard place < text.count else { return nil }
        return Self.point(of: text, at: &place)
    }

    /// Continues with the elements of a syllable's two or three Jamo.
    private mutating func adoptHangul(_ index: UInt32) {
        let last = index % 28 == 0 ? 0 : 0x11A7 + index % 28
        jamo = UInt64(0x1100 + index / 588) | UInt64(0x1161 + index % 588 / 28) << 16 | UInt64(last) << 32
    }

    /// The code point at a position; advances past it.
    @inline(__always)
    static func point(of text: UnsafeBufferPointer<UInt8>, at place: inout Int) -> UInt32 {
        let first = UInt32(text[place])
        if first < 0x80 {
            place += 1
            return first
        }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var point = first & (0x7F >> UInt32(length))
        for index in 1..<length { point = point << 6 | UInt32(text[place + index] & 0x3F) }
        place += length
        return point
    }
}

// MARK: - Context

/// Contractions, and code points whose elements depend on the code point before them.
extension CollationElements {
    /// Continues with the elements of a code point that was read, and of the code points that belong to it.
    mutating func adoptContext(of point: UInt32, _ entry: UInt32) {
        let alone = CollationRun(place: entry >> 8, count: Int(entry & 31))
        let contractions = table.contractions
        if passed.isEmpty, let front = front(of: point), let run = contractions.run(of: point, after: front) {
            return adopt(run)
        }
        if passed.isEmpty {
            guard place < text.count else { return adopt(alone) }
            var end = place
            let next = Self.point(of: text, at: &end)
            let step = contractions.step(from: point, by: next)
            if let step, let run = step.run, !step.goesOn {
                place = end
                return adopt(run)
            }
            if step == nil, contractions.firstClass(of: next) == 0 { return adopt(alone) }
        }
        adoptContraction(of: point, alone)
    }

    /// Finds the longest contraction, then extends it with marks that come after marks of lower classes.
    private mutating func adoptContraction(of point: UInt32, _ alone: CollationRun) {
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
        adopt(run)
    }

    /// The code point before one that was just read from the text.
    private func front(of point: UInt32) -> UInt32? {
        var start = place - (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4)
        guard start > 0 else { return nil }
        repeat { start -= 1 } while start > 0 && text[start] & 0xC0 == 0x80
        return Self.point(of: text, at: &start)
    }
}

/// The next code points, which are read on demand.
private struct CollationAhead {
    private let text: UnsafeBufferPointer<UInt8>
    private var points: [UInt32]
    /// The position in the text after each of the points.
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

    /// The unused points before the rest of the text, and the position of that rest.
    func rest(after matched: Int, without removed: [Int]) -> (ArraySlice<UInt32>, Int) {
        let used = max(matched, (removed.last ?? -1) + 1)
        let held = ends.prefix { $0 == ends[0] }.count - 1
        let end = max(used, held)
        let rest = (matched..<end).filter { !removed.contains($0) }.map { points[$0] }
        return (rest[...], ends[end])
    }
}

// MARK: - CollationComparison

/// Compares two UTF-8 texts without building their keys.
struct CollationComparison {
    let left: UnsafeBufferPointer<UInt8>
    let right: UnsafeBufferPointer<UInt8>
    let table: CollationTable

    /// A negative number if the left text comes first, zero if they compare as equal, a positive number otherwise.
    func order() -> Int {
        let start = equalStart()
        if start == left.count, start == right.count { return 0 }
        for shift in [32, 16, 0] as [UInt64] {
            let order = order(from: start, shift: shift, mask: shift == 32 ? 0xFFFF_FFFF : 0xFFFF)
            if order != 0 { return order }
        }
        return 0
    }

    /// Compares the weights of one level.
    @inline(__always)
    private func order(from start: Int, shift: UInt64, mask: UInt64) -> Int {
        var lefts = CollationElements(of: left, from: start, in: table)
        var rights = CollationElements(of: right, from: start, in: table)
        while true {
            let leftWeight = lefts.nextWeight(shift, mask)
            let rightWeight = rights.nextWeight(shift, mask)
            if leftWeight != rightWeight { return leftWeight < rightWeight ? -1 : 1 }
            if leftWeight == 0 { return 0 }
        }
    }

    /// The number of leading bytes that are equal and can be skipped, because nothing after them belongs to them.
    private func equalStart() -> Int {
        let shorter = min(left.count, right.count)
        var start = 0
        while start < shorter, left[start] == right[start] { start += 1 }
        while start > 0, isAttached(left, start) || isAttached(right, start) { start -= 1 }
        return start
    }

    /// Whether a position is inside of a code point, or before a code point that may belong to earlier ones.
    private func isAttached(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        guard place < text.count else { return false }
        if text[place] & 0xC0 == 0x80 { return true }
        var place = place
        let entry = table.entry(of: CollationElements.point(of: text, at: &place))
        return entry & 0xFF != 0xFF && entry & CollationTable.isAttached != 0
    }
}

extension CollationElements {
    /// The next nonzero weight of a level; zero at the end.
    @inline(__always)
    fileprivate mutating func nextWeight(_ shift: UInt64, _ mask: UInt64) -> UInt64 {
        while case let element = next(), element != 0 {
            let weight = element >> shift & mask
            if weight != 0 { return weight }
        }
        return 0
    }
}
