internal import SettleCore

extension Database {
    private static let scrubSetting = "scrubbed"

    /// Reads a page of the stored data and compares it with its checksums and digests. ``verify(progress:)`` does so with all data.
    ///
    /// - Parameters:
    ///   - place: Where to begin.
    ///   - limit: The maximum number of documents; contents of attachments are read one by one.
    /// - Returns: The problems that were found, and where to continue.
    /// - Throws: ``DatabaseError`` when the system can't read, or with code `closed` or `corrupt`.
    package func scrub(from place: ScrubPlace, limit: Int) throws -> ScrubStep {
        switch place {
        case .documents(let last): try engine.snapshot { try scrubDocuments(after: last, limit, $0) }
        case .attachments(let last): try scrubAttachment(after: last)
        }
    }

    private func scrubDocuments(
        after last: DocumentID?, _ limit: Int, _ reader: any StorageReader
    ) throws -> ScrubStep {
        var range = DocumentRange()
        range.after = last
        var verifier = DocumentVerifier(reader: reader, report: VerificationReport())
        let page = try reader.records(in: range, limit: limit, withContent: true)
        for record in page { try verifier.check(record) }
        let next = page.last.map { ScrubPlace.documents(after: $0.id) } ?? .attachments(after: nil)
        return ScrubStep(next: next, report: verifier.report)
    }

    /// Reads a content outside of a snapshot, since a large one takes long.
    private func scrubAttachment(after last: BlobDigest?) throws -> ScrubStep {
        guard let digest = try engine.read({ try $0.blobs(after: last, limit: 1) }).first?.digest else {
            return ScrubStep(next: nil, report: VerificationReport())
        }
        var report = VerificationReport()
        verifyBlob(digest, &report) { digest in try engine.read { try $0.blob(digest) } }
        // A content that was collected meanwhile is not damaged.
        if !report.isSound, try engine.read({ try $0.blob(digest) }) == nil { report = VerificationReport() }
        return ScrubStep(next: .attachments(after: digest), report: report)
    }

    /// Claims the next scrub. Nodes that share the database take turns.
    ///
    /// - Parameters:
    ///   - time: The current time in milliseconds.
    ///   - interval: The time between two scrubs in milliseconds.
    /// - Returns: Whether a scrub is due. If so, the next one is due after the interval.
    /// - Throws: ``DatabaseError``.
    package func claimScrub(at time: Int64, every interval: Int64) throws -> Bool {
        func isDue(_ text: String?) -> Bool {
            guard let last = text.flatMap({ Int64($0) }), last <= time else { return true }
            return time - last >= interval
        }
        guard isDue(try setting(Self.scrubSetting)) else { return false }
        return try engine.hold { writer in
            guard isDue(try writer.setting(Self.scrubSetting)) else { return false }
            try writer.setSetting(Self.scrubSetting, to: String(time))
            return true
        }
    }
}
