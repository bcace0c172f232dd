extension Database {
    /// Counts and sizes of the database.
    ///
    /// - Complexity: O(*n*) in documents, by an index: milliseconds for 100,000.
    public func info() throws -> DatabaseInfo {
        try engine.snapshot { reader in
            DatabaseInfo(
                documents: try reader.counts(),
                conflicts: try reader.count(.conflicted(.branches, DocumentRange())),
                contested: try reader.count(.conflicted(.deletion, DocumentRange())),
                blobs: try countBlobs(in: reader),
                lastSequence: try reader.lastSequence, fileSize: try engine.maintain(.measure).bytes,
                attachmentFilesSize: try blobs.sizeOnDisk(), revisionLimit: try Self.revisionLimit(in: reader))
        }
    }

    private func countBlobs(in reader: any StorageReader) throws -> Int {
        var total = 0
        var last: BlobDigest?
        while case let page = try reader.blobs(after: last, limit: 1000), let newest = page.last {
            total += page.count
            last = newest.digest
        }
        return total
    }

    /// How many revisions of each branch are kept, older ones are forgotten: CouchDB's `_revs_limit`, 1000 unless set.
    public func revisionLimit() throws -> Int { try engine.read { try Self.revisionLimit(in: $0) } }

    /// Sets how many revisions of each branch are kept; a document is stemmed when it is next written.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for less than 1.
    public func setRevisionLimit(_ limit: Int) throws {
        guard limit > 0 else { throw DatabaseError(.invalid, "the revision limit must be at least 1") }
        try engine.commit { try $0.setSetting("revision_limit", to: String(limit)) }
    }

    static func revisionLimit(in reader: any StorageReader) throws -> Int {
        try reader.setting("revision_limit").flatMap { Int($0) }.map { max($0, 1) } ?? 1000
    }
}
