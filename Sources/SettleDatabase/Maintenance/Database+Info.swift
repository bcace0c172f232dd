extension Database {
    /// Counts and sizes of the database.
    ///
    /// - Complexity: O(*n*) in documents, by an index: milliseconds for 100,000.
    public func info() throws -> DatabaseInfo {
        try engine.snapshot { reader in
            DatabaseInfo(
                documents: try reader.counts(),
                conflicts: try count { try reader.conflictedIDs(.branches, after: $0, limit: 1000) },
                contested: try count { try reader.conflictedIDs(.deletion, after: $0, limit: 1000) },
                blobs: try count { try reader.blobs(after: $0?.digest, limit: 1000) },
                lastSequence: try reader.lastSequence, fileSize: try engine.sizeOnDisk(),
                attachmentFilesSize: blobs.sizeOnDisk(), revisionLimit: try Self.revisionLimit(in: reader))
        }
    }

    /// How many elements there are in all pages.
    private func count<Element>(_ page: (Element?) throws -> [Element]) throws -> Int {
        var total = 0
        var last: Element?
        while case let elements = try page(last), let newest = elements.last {
            total += elements.count
            last = newest
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
        try engine.write { try $0.setSetting("revision_limit", to: String(limit)) }
    }

    static func revisionLimit(in reader: any StorageReader) throws -> Int {
        try reader.setting("revision_limit").flatMap { Int($0) }.map { max($0, 1) } ?? 1000
    }
}
