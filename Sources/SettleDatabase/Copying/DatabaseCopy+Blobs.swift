extension DatabaseCopy {
    /// Copies the contents of attachments in the order of their digests, large ones piece by piece.
    func copyBlobs() throws {
        var reached: BlobDigest?
        try target.engine.forEachPage(of: .blobs(after: nil)) { page in
            if case .blob(let last)? = page.last { reached = last.digest }
        }
        var (written, bytes, done): ([PendingBlob], Int64, Int) = ([], 0, 0)
        func flush() throws {
            guard !written.isEmpty else { return }
            try target.engine.hold { writer in for pending in written { try writer.put(.blob(pending.record)) } }
            done += written.count
            (written, bytes) = ([], 0)
            try progress(MaintenanceProgress("attachments", done, of: done))
        }
        try source.engine.forEachPage(of: .blobs(after: reached)) { page in
            for case .blob(let row) in page {
                let pending = try copy(row)
                written.append(pending)
                bytes += pending.record.length
                if bytes >= Int64(Self.pageBytes) { try flush() }
            }
            try flush()
        }
    }

    /// Writes a content where the target keeps one of its size; it is not in a row yet.
    private func copy(_ row: BlobRecord) throws -> PendingBlob {
        guard let record = try source.engine.read({ try $0.blob(row.digest) }) else {
            throw DatabaseError(.attachmentMissing, "the content \(row.digest) was removed while it was being copied")
        }
        let reader = try AttachmentReader(record, store: source.blobs, expands: false, range: nil, checksDigest: false)
        let writer = try target.attachmentWriter(contentType: "application/octet-stream", encoding: .identity)
        while let piece = try reader.read() { try writer.write(piece) }
        guard let pending = try writer.finish(name: "copy").pending, pending.record.digest == record.digest,
            pending.record.md5 == record.md5, pending.record.length == record.length
        else {
            throw DatabaseError(
                .attachmentMissing,
                """
                the content \(row.digest) is damaged in the source: its digests or its length differ; verify the source says \
                which document has it
                """)
        }
        return pending
    }
}
