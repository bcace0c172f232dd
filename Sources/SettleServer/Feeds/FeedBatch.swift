internal import SettleDatabase

/// The rows of consecutive changes, rendered once for all feeds of a kind.
struct FeedBatch: Sendable {
    /// The position of a row.
    private struct Row: Sendable {
        let sequence: UpdateSequence
        let start: Int
    }

    /// The position before the first change.
    let after: UpdateSequence
    /// The position of the last change, whether it has a row or not.
    let through: UpdateSequence
    /// The rows, each with its separator before it.
    let bytes: [UInt8]
    private var rows: [Row] = []
    /// The length of the separator in bytes.
    private let separator: Int

    /// Renders the changes of a page.
    init(
        _ page: [DocumentRecord], after: UpdateSequence, through: UpdateSequence, by row: ChangeRow,
        of database: Database
    ) throws {
        self.after = after
        self.through = through
        separator = row.framing.separator.count
        // Feeds that share rows show no attachments, so the whole text is in its bytes.
        var text = WireText()
        for record in page {
            guard let line = try row.text(record, of: database) else { continue }
            rows.append(Row(sequence: record.sequence, start: text.count))
            row.append(line, record.sequence, isFirst: false, to: &text)
        }
        bytes = text.bytes
    }

    /// The sequence of the last row, if any.
    var lastRow: UpdateSequence? { rows.last?.sequence }

    /// The rows after a position.
    ///
    /// - Parameters:
    ///   - position: A position within the batch.
    ///   - limit: The largest number of rows to take.
    ///   - isFirst: Whether no row precedes them, so that no separator is needed.
    /// - Returns: The rows as bytes, their number, and the position after them.
    func rows(
        after position: UpdateSequence, limit: Int, isFirst: Bool
    ) -> (bytes: [UInt8], count: Int, through: UpdateSequence) {
        let first = rows.firstIndex { $0.sequence > position } ?? rows.endIndex
        let count = min(rows.count - first, limit)
        guard count > 0 else { return ([], 0, through) }
        let isRest = count == rows.count - first
        let start = rows[first].start + (isFirst ? separator : 0)
        let end = isRest ? bytes.count : rows[first + count].start
        // A complete batch is shared, not copied.
        let taken = start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
        return (taken, count, count < limit ? through : rows[first + count - 1].sequence)
    }
}
