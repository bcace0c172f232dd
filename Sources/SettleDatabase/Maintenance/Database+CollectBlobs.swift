extension Database {
    /// How many contents of attachments are looked at in one go; what bounds the memory of a collection.
    private static let blobsAtOnce = 50_000

    /// Removes the contents of attachments that no kept revision holds; returns how many.
    ///
    /// A page of contents at a time is suspected; all documents are gone through, and what one of them holds is cleared.
    /// In the write that removes the rest, documents changed since then are gone through again.
    func collectBlobs(_ progress: (MaintenanceProgress) throws -> Void) throws -> Int {
        var removed = 0
        var seen = 0
        var last: BlobDigest?
        while case let page = try engine.read({ try $0.blobs(after: last, limit: Self.blobsAtOnce) }),
            let newest = page.last
        {
            let sequence = try lastSequence()
            var suspects = Set(page.map(\.digest))
            try clear(&suspects, changedSince: 0)
            if !suspects.isEmpty {
                removed += try engine.hold { writer in
                    try clear(&suspects, changedSince: sequence)
                    let doomed = suspects.filter { !blobs.pins.contains($0) }
                    for digest in doomed { try writer.remove(.blob(digest)) }
                    return doomed.count
                }
            }
            last = newest.digest
            seen += page.count
            try progress(MaintenanceProgress("attachments", seen, of: seen))
        }
        return removed
    }

    /// Removes the large contents that no row names.
    ///
    /// Rows that were removed must be gone from the disk for good before this begins, or a loss of power could bring back
    /// a row without its content. Each step is a write, so that no transaction is open that has yet to commit the row.
    func collectStoredBlobs() throws {
        try blobs.storage?.collect(
            row: { digest in try engine.read { try $0.blob(digest) } },
            hold: { remove in try engine.hold { writer in try remove { try writer.blob($0) } } })
    }

    /// Takes out of the suspects what documents changed after a sequence hold.
    private func clear(_ suspects: inout Set<BlobDigest>, changedSince sequence: UpdateSequence) throws {
        try forEachNamedBlob(since: sequence) { suspects.remove($0) }
        var last: Int64 = 0
        while pendingCache != nil, case let page = try journal(after: last), let end = page.last {
            for case .given(let content) in page.flatMap({ [$0.old, $0.new] }) {
                for attachment in content.attachments { suspects.remove(attachment.blob) }
            }
            last = end.number
        }
    }

    private func journal(after number: Int64) throws -> [StoredJournalEntry] {
        try engine.read { try $0.journalEntries(after: number, limit: 500) }
    }
}
