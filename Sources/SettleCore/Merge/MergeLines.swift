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

/// Numbers lines, so that each is compared once.
private struct LineTable {
    private var known: [ArraySlice<UInt8>: Int] = [:]
    private var lines: [ArraySlice<UInt8>] = []

    /// The numbers of a text's lines; a line feed belongs to the line it ends.
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
