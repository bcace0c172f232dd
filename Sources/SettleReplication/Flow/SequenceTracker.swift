/// Tracks which changes of a source are done, and so the position for a checkpoint. The position passes a change
/// only when that change and all before it are done.
///
///     rows    1 done   2 done   3 open   4 done   5 held
///                          ▲
///                       position
///
/// A held change is no longer processed, but the position does not pass it (SEMANTICS 112). Only rows that are not done
/// are kept: each open or held row knows the position before itself.
struct SequenceTracker: Sendable {
    private enum State { case open, held, done }

    private struct Row {
        let number: Int
        let before: PeerSequence
        var state = State.open
    }

    /// Ascending by number; done rows are removed occasionally.
    private var rows: [Row] = []
    private var head = 0
    private var doneInRows = 0
    private var end: PeerSequence
    /// The number of the next row.
    private(set) var nextRow = 0
    /// The number of rows that are neither done nor held.
    private(set) var openCount = 0
    private var heldCount = 0
    /// The first row that was dropped because too many are held, if any: no position passes it.
    private var ceiling: (row: Int, before: PeerSequence)?

    /// The maximum number of held rows that are kept.
    static let maximumHeld = 10_000

    /// Creates a tracker that starts at a position.
    init(at position: PeerSequence) { end = position }

    /// The position up to which everything is done.
    var position: PeerSequence {
        if head < rows.count, rows[head].number < ceiling?.row ?? .max { return rows[head].before }
        return ceiling?.before ?? end
    }

    /// Adds the rows of a page; returns the number of the first.
    mutating func add(_ sequences: [PeerSequence], through last: PeerSequence) -> Int {
        let number = nextRow
        for (index, sequence) in sequences.enumerated() {
            rows.append(Row(number: nextRow, before: index == 0 ? end : sequences[index - 1]))
            nextRow += 1
            if index == sequences.count - 1 { end = sequence }
        }
        openCount += sequences.count
        end = last
        return number
    }

    /// Marks a row as done, even if it was held.
    mutating func finish(_ number: Int) {
        guard let index = index(of: number) else { return }
        switch rows[index].state {
        case .open: openCount -= 1
        case .held: heldCount -= 1
        case .done: return
        }
        rows[index].state = .done
        doneInRows += 1
        removeDone()
    }

    /// Marks a row as held: no longer processed, but it holds the position.
    mutating func hold(_ number: Int) {
        guard let index = index(of: number), rows[index].state == .open else { return }
        guard heldCount < Self.maximumHeld else {
            if number < ceiling?.row ?? .max { ceiling = (number, rows[index].before) }
            return finish(number)
        }
        openCount -= 1
        heldCount += 1
        rows[index].state = .held
    }

    private mutating func removeDone() {
        while head < rows.count, rows[head].state == .done {
            head += 1
            doneInRows -= 1
        }
        if head == rows.count || head > 4096 && head * 2 > rows.count {
            rows.removeFirst(head)
            head = 0
        }
        guard doneInRows > 4096, doneInRows * 2 > rows.count else { return }
        rows.removeAll { $0.state == .done }
        (head, doneInRows) = (0, 0)
    }

    private func index(of number: Int) -> Int? {
        var (low, high) = (head, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].number == number ? low : nil
    }
}
