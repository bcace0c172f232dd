extension SQLiteReader {
    /// How many sums are not what the documents add up to; all are compared in one state of the file.
    ///
    /// A document that was written after the last sealed sequence is in the sums as its row says it was.
    ///
    /// - Complexity: O(*n* log *n*).
    func wrongCounts() throws -> Int64 {
        try connection.integer(
            """
            WITH last(sealed) AS (
                SELECT ifnull((SELECT documents FROM sequence_counts WHERE level = -1 AND bucket = 0), 0)),
            counted(id, sequence, kind) AS (
                SELECT id, iif(sequence <= sealed, sequence, counted >> 2), iif(sequence <= sealed, flags, counted) & 3
                FROM documents, last WHERE sequence <= sealed OR counted > 0),
            kept AS (
                SELECT 'sequences', level, bucket, documents, 0, 0, 0 FROM sequence_counts WHERE level >= 0
                UNION ALL
                SELECT 'ids', level, first, plain, deleted, conflicted, contested FROM id_counts
                WHERE plain <> 0 OR deleted <> 0 OR conflicted <> 0 OR contested <> 0),
            expected AS (
                SELECT 'sequences', 0, sequence - 1 >> \(sizes.bits), count(*), 0, 0, 0 FROM counted GROUP BY 3
                UNION ALL
                SELECT 'sequences', level + 1, bucket >> \(sizes.bits), sum(documents), 0, 0, 0
                FROM sequence_counts, last
                WHERE level BETWEEN 0 AND 6 AND bucket >> \(sizes.bits) < sealed >> \(sizes.bits) * (level + 2)
                GROUP BY 2, 3
                UNION ALL
                SELECT 'ids', 0, \(Self.range(level: "0", of: "id")),
                    sum(kind = 0), sum(kind = 1), sum(kind = 2), sum(kind = 3) FROM counted GROUP BY 3
                UNION ALL
                SELECT 'ids', level + 1, \(Self.range(level: "part.level + 1", of: "part.first")),
                    sum(plain), sum(deleted), sum(conflicted), sum(contested) FROM id_counts AS part
                WHERE level < (SELECT max(level) FROM id_counts) GROUP BY 2, 3
                HAVING sum(plain) + sum(deleted) + sum(conflicted) + sum(contested) <> 0)
            SELECT count(*) FROM (
                SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM expected)
                UNION ALL SELECT * FROM (SELECT * FROM expected EXCEPT SELECT * FROM kept))
            """) ?? 0
    }

    /// The beginning of the range of a level that something falls into.
    private static func range(level: String, of key: String) -> String {
        """
        (SELECT found.first FROM id_counts AS found WHERE found.level = \(level) AND found.first <= \(key)
            ORDER BY found.first DESC LIMIT 1)
        """
    }
}
