internal import SettleDatabase

/// The recently rendered rows of a kind of feed.
struct FeedRows: Sendable {
    /// The last result. Feeds that are woken together are at the same position, so it is often asked for again.
    private struct Taken: Sendable {
        let position: UpdateSequence
        let newest: UpdateSequence
        let limit: Int
        let isFirst: Bool
        let found: FeedGroup.Found
    }

    /// The newest change that has a row.
    private(set) var lastRow: UpdateSequence
    /// The position from which it is known which changes have a row.
    private let origin: UpdateSequence
    /// The position from which rows are kept.
    private var from: UpdateSequence
    private var batches: [FeedBatch] = []
    private var size = 0
    private var taken: Taken?

    /// - Parameters:
    ///   - position: The first position.
    ///   - hasNews: Whether there may be rows up to that position.
    init(at position: UpdateSequence, hasNews: Bool = false) {
        lastRow = hasNews ? position : 0
        origin = position
        from = position
    }

    /// Keeps a batch, and drops the oldest ones if there are too many bytes.
    mutating func add(_ batch: FeedBatch, keeping limit: Int) {
        // A batch without rows only moves the position.
        guard let last = batch.lastRow else { return }
        lastRow = last
        taken = nil
        batches.append(batch)
        size += batch.bytes.count
        var forgotten = 0
        while size > limit || batches.count - forgotten > Self.maximumBatches, forgotten < batches.count {
            size -= batches[forgotten].bytes.count
            from = batches[forgotten].through
            forgotten += 1
        }
        batches.removeFirst(forgotten)
    }

    /// The rows after a position, up to about 64 KiB.
    mutating func find(
        after position: UpdateSequence, newest: UpdateSequence, limit: Int, isFirst: Bool
    ) -> FeedGroup.Found {
        if position >= origin, position >= lastRow { return .nothing(through: newest) }
        guard position >= from else { return .missing }
        if let taken, taken.position == position, taken.newest == newest, taken.limit == limit, taken.isFirst == isFirst
        {
            return taken.found
        }
        let found = gather(after: position, newest: newest, limit: limit, isFirst: isFirst)
        taken = Taken(position: position, newest: newest, limit: limit, isFirst: isFirst, found: found)
        return found
    }

    private func gather(
        after position: UpdateSequence, newest: UpdateSequence, limit: Int, isFirst: Bool
    ) -> FeedGroup.Found {
        var (bytes, count, through): ([UInt8], Int, UpdateSequence) = ([], 0, newest)
        for index in first(after: position)..<batches.count {
            let next = batches[index].rows(after: position, limit: limit - count, isFirst: isFirst && count == 0)
            if bytes.isEmpty { bytes = next.bytes } else { bytes += next.bytes }
            count += next.count
            through = next.through
            if count >= limit || bytes.count >= Self.piece { break }
        }
        // Changes after the last row have no rows.
        if count < limit, through >= lastRow { through = newest }
        return count > 0 ? .rows(bytes, count: count, through: through) : .nothing(through: newest)
    }

    /// The first batch with rows after a position.
    private func first(after position: UpdateSequence) -> Int {
        var (low, high) = (0, batches.count)
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].through > position { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private static let maximumBatches = 4096
    private static let piece = 64 * 1024
}

// MARK: - FeedBatch

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
    ///   - isFirst: Whether these are the feed's first rows, which need no separator before them.
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
