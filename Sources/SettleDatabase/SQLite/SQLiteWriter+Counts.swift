internal import SettleCore

extension SQLiteWriter {
    /// The most sequences of an open transaction that the sums don't have.
    private static let mostUnsealed: Int64 = 8192

    /// The last sealed sequence.
    func sealedSequence() throws -> Int64 {
        if let sealed { return sealed }
        let read = try sequenceCounts.sealed()
        sealed = read
        return read
    }

    /// Adds the documents of whole buckets to the sums.
    func sealCounts() throws {
        let (start, end) = try (sealedSequence(), sequenceCounts.lastEnd(through: lastSequence.number))
        guard end >= start else { return try rebuildCounts() }
        guard end > start else { return }
        let documents = try sequenceCounts.written(after: start, through: end)
        guard try sequenceCounts.remove(documents.compactMap { $0.counted?.sequence }) else {
            return try rebuildCounts()
        }
        try sequenceCounts.seal(from: start, through: end)
        sealed = end
        guard try idCounts().update(documents.map { ($0.id, $0.difference) }) else { return try rebuildCounts() }
    }

    /// Seals when a transaction has changed many documents, so that the next to do so has few to read.
    func sealIfMany() throws {
        if try lastSequence.number - sealedSequence() >= Self.mostUnsealed { try sealCounts() }
    }

    /// A document before it is removed or gets another tree at the same sequence.
    func countedDocument(at sequence: UpdateSequence) throws -> CountedDocument? {
        try sequenceCounts.written(after: sequence.number - 1, through: sequence.number).first
    }

    /// Brings the sums up to date with a document that was removed, or is of another kind now at the same sequence: `flags`, or
    /// `nil` for one that was removed.
    func recount(_ document: CountedDocument, now flags: RecordFlags?) throws {
        let isSealed = try document.sequence <= sealedSequence()
        let known =
            isSealed ? (sequence: document.sequence, kind: document.kind) : flags == nil ? document.counted : nil
        guard let known else { return }
        var difference = KindCounts()
        difference[known.kind] -= 1
        if let flags { difference[Int(flags.rawValue)] += 1 }
        let hadIt = try flags != nil || sequenceCounts.remove([known.sequence])
        if try !hadIt || !idCounts().update([(document.id, difference)]) { try rebuildCounts() }
    }

    /// Makes all sums anew from the documents.
    ///
    /// - Complexity: O(*n*).
    func rebuildCounts() throws {
        let end = try sequenceCounts.lastEnd(through: lastSequence.number)
        try connection.execute(
            "DELETE FROM sequence_counts; UPDATE documents SET counted = 0 WHERE sequence > \(end) AND counted <> 0")
        try sequenceCounts.seal(from: 0, through: end)
        sealed = end
        try idCounts().rebuild()
    }
}
