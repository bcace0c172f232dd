/// Merges texts line by line.
///
/// Each version's changes are computed against the base; the changes of all versions are then applied together:
///
///     base      one    two   three      four   five
///     winner    one!   two   three      four   five         lines 0 to 1 replaced
///     other     one    two   three      five                lines 3 to 4 removed
///     merged    one!   two   three      five
///
/// Changes that overlap or touch are a clash, unless they are the same.
enum MergeLines {
    /// The maximum number of removed and added lines in one version.
    static let limit = 1000

    /// The base with the changes of all versions.
    ///
    /// - Complexity: O(*n* · *d*) for *n* lines of which *d* are removed or added, and O(*d*²) memory.
    static func merge(_ member: MergeMember) throws(MergeMisfit) -> JSONValue {
        if member.isRemoved { throw .removed }
        guard let base = (member.base ?? "").string else { throw .notText }
        var table = LineTable()
        let old = table.numbers(of: base)
        var edits: [LineEdit] = []
        for change in member.changes {
            guard let text = change?.string else { throw .notText }
            guard let found = LineDifference.edits(from: old, to: table.numbers(of: text), limit: limit) else {
                throw .tooDifferent
            }
            edits += found
        }
        edits.sort { ($0.lines.lowerBound, $0.lines.upperBound) < ($1.lines.lowerBound, $1.lines.upperBound) }
        var merged: [Int] = []
        var done = 0
        var last: LineEdit?
        for edit in edits where edit != last {
            if let last, edit.lines.lowerBound <= last.lines.upperBound { throw .sameLines }
            merged += old[done..<edit.lines.lowerBound]
            merged += edit.replacement
            done = edit.lines.upperBound
            last = edit
        }
        return .string(table.text(of: merged + old[done...]))
    }
}

/// Numbers the lines, so that each is compared once.
private struct LineTable {
    private var known: [ArraySlice<UInt8>: Int] = [:]
    private var lines: [ArraySlice<UInt8>] = []

    /// The numbers of a text's lines; a line feed belongs to the line that it ends.
    mutating func numbers(of text: String) -> [Int] {
        var rest = Array(text.utf8)[...]
        var numbers: [Int] = []
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            numbers.append(number(of: rest[..<end]))
            rest = rest[end...]
        }
        return numbers
    }

    private mutating func number(of line: ArraySlice<UInt8>) -> Int {
        if let number = known[line] { return number }
        known[line] = lines.count
        lines.append(line)
        return lines.count - 1
    }

    func text(of numbers: [Int]) -> String {
        String(decoding: numbers.flatMap { lines[$0] }, as: UTF8.self)
    }
}

// MARK: - LineDifference

/// Finds a shortest edit script between two lists of lines, by Myers' O(*n* · *d*) algorithm.
///
/// A script is a path through a grid, from the top left to the bottom right. A step to the right removes an old
/// line, a step down adds a new one, and where lines are equal the path continues diagonally at no cost:
///
///          A   B   C          old: A B C
///        ┌───┬───┬───┐        new: B C D
///      B │ → │ ↘ │   │
///      C │   │   │ ↘ │        remove A, keep B and C, add D
///      D │   │   │ ↓ │
///        └───┴───┴───┘
///
/// Each round allows one more step and computes the farthest point on every diagonal from those of the previous
/// round.
struct LineDifference {
    private let old: ArraySlice<Int>
    private let new: ArraySlice<Int>
    /// By round, the number of consumed old lines at the farthest point on each diagonal, from the lowest diagonal
    /// up in steps of two; -1 if no path reaches the diagonal.
    private var rounds: [[Int]] = []

    /// The changes that turn one list of lines into another, in order and separated by equal lines.
    ///
    /// - Returns: `nil` if more than `limit` lines would have to be removed and added.
    static func edits(from old: [Int], to new: [Int], limit: Int) -> [LineEdit]? {
        let front = zip(old, new).prefix { $0 == $1 }.count
        let shorter = min(old.count, new.count) - front
        let back = zip(old.reversed(), new.reversed()).prefix(shorter).prefix { $0 == $1 }.count
        var difference = LineDifference(
            old: old[front..<(old.count - back)], new: new[front..<(new.count - back)])
        guard difference.explore(limit: limit) else { return nil }
        return difference.edits
    }

    private init(old: ArraySlice<Int>, new: ArraySlice<Int>) {
        self.old = old
        self.new = new
    }

    /// Runs rounds until a path reaches the end.
    private mutating func explore(limit: Int) -> Bool {
        for round in 0...limit {
            var farthest: [Int] = []
            for diagonal in stride(from: -round, through: round, by: 2) {
                var point = start(on: diagonal, in: round).behind
                while point >= 0, point < old.count, point - diagonal < new.count,
                    old[old.startIndex + point] == new[new.startIndex + point - diagonal]
                {
                    point += 1
                }
                farthest.append(point)
                if point == old.count, point - diagonal == new.count {
                    rounds.append(farthest)
                    return true
                }
            }
            rounds.append(farthest)
        }
        return false
    }

    /// The start of a round's path on a diagonal, before it follows equal lines, and whether the last step removed a
    /// line.
    private func start(on diagonal: Int, in round: Int) -> (behind: Int, removes: Bool) {
        if round == 0 { return (0, false) }
        let before = rounds[round - 1]
        let above = (diagonal + round) / 2
        let added = above < before.count ? before[above] : -1
        let isInside = added >= 0 && added - diagonal <= new.count
        let removed = above > 0 && before[above - 1] >= 0 ? before[above - 1] + 1 : -1
        return removed <= old.count && removed > (isInside ? added : -1)
            ? (removed, true) : (isInside ? added : -1, false)
    }

    /// Traces the path back from the end: the steps between two runs of equal lines are one change.
    private var edits: [LineEdit] {
        var edits: [LineEdit] = []
        var (oldEnd, newEnd) = (old.count, new.count)
        var (point, diagonal) = (old.count, old.count - new.count)
        for round in rounds.indices.reversed() {
            let (begin, removes) = start(on: diagonal, in: round)
            if point > begin || round == 0 {
                add(point..<oldEnd, (point - diagonal)..<newEnd, to: &edits)
                (oldEnd, newEnd) = (begin, begin - diagonal)
            }
            point = removes ? begin - 1 : begin
            diagonal += removes ? -1 : 1
        }
        add(0..<oldEnd, 0..<newEnd, to: &edits)
        return edits.reversed()
    }

    private func add(_ gone: Range<Int>, _ come: Range<Int>, to edits: inout [LineEdit]) {
        if gone.isEmpty && come.isEmpty { return }
        let lines = (gone.lowerBound + old.startIndex)..<(gone.upperBound + old.startIndex)
        let replacement = new[(come.lowerBound + new.startIndex)..<(come.upperBound + new.startIndex)]
        edits.append(LineEdit(lines: lines, replacement: Array(replacement)))
    }
}

/// One place where a text differs from another: some lines are replaced by other lines.
struct LineEdit: Hashable {
    /// The lines of the old text to remove; empty for an insertion before its bound.
    let lines: Range<Int>
    /// The lines to insert.
    let replacement: [Int]
}
