internal import SettleDatabase

/// How a commit changes the sums of documents: level 0 has a sum for each 1,024 sequences, level 1 for each 1,048,576.
///
///     level 1   │ 0: 812,004                     │ 1: 3,101 │
///     level 0   │ 0: 871 │ 1: 902 │ …  │ 1023: 7 │ 1024: 990 │ …
///
/// A document leaves the bucket of its old sequence and enters that of its new one.
struct Tallies {
    private struct Bucket: Hashable {
        let level: Int16
        let number: Int64
    }

    /// The differences, by bucket, for each of the four flags.
    private var differences: [Bucket: SIMD4<Int64>] = [:]

    /// Counts that a document leaves or enters its buckets.
    mutating func add(_ base: ChangeSet.Base, _ number: Int64) {
        guard base.sequence > 0, (0..<4).contains(base.flags) else { return }
        for (level, bits) in [(Int16(0), Int64(10)), (1, 20)] {
            differences[Bucket(level: level, number: base.sequence >> bits), default: .zero][Int(base.flags)] += number
        }
    }

    /// The call that adds the differences to the table, or `nil` when all sums stay the same.
    func call(_ database: Int64) -> PostgresCall? {
        let rows = differences.filter { $0.value != .zero }.sorted {
            ($0.key.level, $0.key.number) < ($1.key.level, $1.key.number)
        }
        guard !rows.isEmpty else { return nil }
        return PostgresCall(
            .putCounts, .integer(database), .shorts(rows.map(\.key.level)), .integers(rows.map(\.key.number)),
            .integers(rows.map { $0.value[0] }), .integers(rows.map { $0.value[1] }),
            .integers(rows.map { $0.value[2] }), .integers(rows.map { $0.value[3] }))
    }
}
