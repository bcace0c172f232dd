internal import SettleCore

/// Counts the documents whose sequences are in a range, by sums that are stored in the file.
///
/// Sequences are divided into buckets of 128, those into larger buckets of 128 buckets, and so on. A bucket is
/// *sealed*, that is, it has a row with its sum, when the newest sequence is at or past its end. A document that is
/// changed later moves from its bucket to a new sequence. The sum is reduced when the new sequence is sealed; until
/// then, the document's row records the sequence that it had.
///
///     level 1   │            1 … 16,384: 9,211            │
///     level 0   │ 1 … 128: 90 │ 129 … 256: 71 │ …         │ 16,385 … 16,512: 128 │
///     documents │                                         │                      │ 16,513 … : read one by one
///                                                                     sealed ────┘
///
/// A bucket without documents has no row. A count adds at most 127 rows of each level, and reads fewer than 384
/// documents.
struct SequenceCounts {
    let connection: SQLiteConnection
    let sizes: CountSizes

    /// Levels 0 to 7 cover 2⁵⁶ sequences.
    private static let levels = 0..<Int64(8)
    /// The level of the single row with the last sealed sequence.
    private static let sealedLevel: Int64 = -1

    private func shift(_ level: Int64) -> Int64 { sizes.bits * (level + 1) }

    /// The end of the last bucket of level 0 that ends at or before a sequence.
    func lastEnd(through sequence: Int64) -> Int64 { (sequence >> sizes.bits) << sizes.bits }

    /// The last sequence of the last sealed bucket, 0 for none.
    func sealed() throws -> Int64 { try documents(Self.sealedLevel, 0) ?? 0 }

    /// The documents whose sequences are in a range, each with its state in the sums.
    func written(after first: Int64, through last: Int64 = .max) throws -> [CountedDocument] {
        let statement = try connection.statement(.writtenDocuments)
        statement.bind(1, first)
        statement.bind(2, last)
        return try statement.all { CountedDocument($0) }
    }

    /// The number of documents whose sequences are in a range.
    ///
    /// - Complexity: O(log *n*) in the newest sequence.
    func count(in range: SequenceRange) throws -> Int64 {
        let (after, through) = (max(range.after.number, 0), range.through.number)
        guard after < through else { return 0 }
        let sealed = try sealed()
        let (low, high) = (min(lastEnd(through: after), sealed), min(lastEnd(through: through), sealed))
        if low == high { return try rows(after: after, through: through) }
        let left = try written(after: sealed).count {
            $0.counted.map { $0.sequence > low && $0.sequence <= high } ?? false
        }
        let whole = try sum(through: high) &- sum(through: low) &- Int64(left)
        return try whole &+ rows(after: high, through: through) &- rows(after: low, through: after)
    }

    private func rows(after first: Int64, through last: Int64) throws -> Int64 {
        guard first < last else { return 0 }
        let statement = try connection.statement(.countChanges)
        statement.bind(1, first)
        statement.bind(2, last)
        return try statement.first { $0.integer(0) } ?? 0
    }

    /// The sum of all buckets up to the end of one.
    private func sum(through end: Int64) throws -> Int64 {
        var (total, position): (Int64, Int64) = (0, 0)
        for level in Self.levels.reversed() {
            let shift = shift(level)
            guard end >> shift > position >> shift else { continue }
            let sum = try connection.statement(.sumOfSequences)
            sum.bind(1, level)
            sum.bind(2, position >> shift)
            sum.bind(3, end >> shift)
            total &+= try sum.first { $0.integer(0) } ?? 0
            position = (end >> shift) << shift
        }
        return total
    }

    private func documents(_ level: Int64, _ bucket: Int64) throws -> Int64? {
        let statement = try connection.statement(.sequencesOfBucket)
        statement.bind(1, level)
        statement.bind(2, bucket)
        return try statement.first { $0.integer(0) }
    }

    private func set(_ level: Int64, _ bucket: Int64, _ documents: Int64) throws {
        let statement = try connection.statement(documents == 0 ? .removeSequences : .setSequences)
        statement.bind(1, level)
        statement.bind(2, bucket)
        if documents != 0 { statement.bind(3, documents) }
        try statement.run()
    }

    /// Removes documents from the sums of sealed buckets.
    ///
    /// - Returns: Whether the sums contained them; if not, the sums are damaged.
    func remove(_ sequences: [Int64]) throws -> Bool {
        guard !sequences.isEmpty else { return true }
        let sealed = try sealed()
        for level in Self.levels {
            let shift = shift(level)
            var removed: [Int64: Int64] = [:]
            for sequence in sequences where (sequence - 1) >> shift < sealed >> shift {
                removed[(sequence - 1) >> shift, default: 0] += 1
            }
            if removed.isEmpty { break }
            for (bucket, count) in removed {
                guard let before = try documents(level, bucket), before >= count else { return false }
                try set(level, bucket, before - count)
            }
        }
        return true
    }

    /// The first sequence of a document in a range. Empty buckets are skipped, because a damaged sequence may be
    /// very high.
    private func first(after position: Int64, through end: Int64) throws -> Int64? {
        let statement = try connection.statement(.firstSequence)
        statement.bind(1, position)
        statement.bind(2, end)
        return try statement.first { $0.integer(0) }
    }

    /// Whether a bucket at or after one has a sum. None past the last sealed sequence has one, unless that is damaged.
    private func hasSum(_ level: Int64, from bucket: Int64) throws -> Bool {
        let statement = try connection.statement(.bucketAfter)
        statement.bind(1, level)
        statement.bind(2, bucket)
        return try statement.first { $0.integer(0) } != nil
    }

    /// Adds the sums of the buckets between two ends.
    ///
    /// - Returns: Whether these buckets had no sums; if one had, the sums are damaged.
    func seal(from start: Int64, through end: Int64) throws -> Bool {
        guard try !hasSum(0, from: start >> sizes.bits) else { return false }
        let bucket = try connection.statement(.sealSequences)
        bucket.bind(3, sizes.bits)
        var position = start
        while let sequence = try first(after: position, through: end) {
            bucket.bind(1, lastEnd(through: sequence - 1))
            position = lastEnd(through: sequence - 1) + (1 << sizes.bits)
            bucket.bind(2, position)
            try bucket.run()
        }
        let level = try connection.statement(.sealLevel)
        level.bind(3, sizes.bits)
        for number in Self.levels.dropFirst() {
            let shift = shift(number)
            guard end >> shift > start >> shift else { break }
            guard try !hasSum(number, from: start >> shift) else { return false }
            level.bind(1, (start >> shift) << sizes.bits)
            level.bind(2, (end >> shift) << sizes.bits)
            level.bind(4, number)
            try level.run()
        }
        try set(Self.sealedLevel, 0, end)
        return true
    }
}

/// The columns of a document's row that counts need.
struct CountedDocument {
    let id: [UInt8]
    let sequence: Int64
    /// The kind of the document, as the number of its flags.
    let kind: Int
    /// The sequence and kind with which the sums count the document; `nil` if they don't count it or it was not
    /// changed since.
    let counted: (sequence: Int64, kind: Int)?

    init(_ row: SQLiteStatement) {
        (id, sequence, kind) = (row.bytes(0), row.integer(1), Self.kind(row))
        counted = Self.counted(row)
    }

    private static func kind(_ row: SQLiteStatement) -> Int { Int(row.integer(2) & 3) }

    private static func counted(_ row: SQLiteStatement) -> (sequence: Int64, kind: Int)? {
        let old = row.integer(3)
        return old == 0 ? nil : (old >> 2, Int(old & 3))
    }

    /// The change to make to the sums: one more of its kind, and one less of the kind with which they count it.
    var difference: KindCounts { Self.difference(kind, counted) }

    /// The difference for a row, without creating a value for it.
    static func difference(_ row: SQLiteStatement) -> KindCounts { difference(kind(row), counted(row)) }

    private static func difference(_ kind: Int, _ counted: (sequence: Int64, kind: Int)?) -> KindCounts {
        var difference = KindCounts()
        difference[kind] += 1
        if let counted { difference[counted.kind] -= 1 }
        return difference
    }
}

/// The sizes of the parts for which sums are kept; they never change in a file.
struct CountSizes {
    /// The number of bits of a sequence that a level of buckets covers.
    var bits: Int64 = 7
    /// The maximum number of ids in a range of level 0.
    var capacity: Int64 = 1024
    /// The maximum number of ranges of a level in one of the next.
    var fan: Int64 = 512
    /// The maximum number of documents. The sums of a damaged file may be any numbers.
    static let maximum: Int64 = 1 << 56
}
