internal import SettleCore
internal import SettleCrypto
internal import SettlePlatform

extension Database {
    /// Checks every invariant of the database and reads everything in it.
    ///
    /// That is: the structure of the file; every tree; that each leaf has its content and each content belongs to one
    /// revision; that contents have their checksums, bodies are compact JSON and revision ids made here are the hash of what is
    /// stored; that every attachment's content is there, with its digests and lengths; that the indexes and counts are right.
    /// A write-ahead log that was damaged when the database was opened is named as long as its copy is kept.
    /// Nothing is changed, and memory is bounded. Writes made meanwhile are not mistaken for damage, since all is read
    /// from one state.
    ///
    /// - Parameter progress: Called with the progress.
    /// - Returns: Counts, and a line for each thing that is wrong.
    /// - Throws: ``DatabaseError`` when the system can't read, or with code `closed`; damage is a line of the report.
    public func verify(
        progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> VerificationReport {
        var report = VerificationReport()
        for problem in try engine.maintain(.check).problems { report.report("file: \(problem)") }
        if let problem = try files?.problemOfLog() { report.report("file: \(problem)") }
        try engine.snapshot { reader in
            var verifier = DocumentVerifier(reader: reader, report: report)
            let documents = try Self.damage { try verifier.run(progress) }
            report = verifier.report
            if let documents { report.report("documents can't all be read: \(documents)") }
            if let damage = try Self.damage({ try verifyBlobs(in: reader, &report, progress) }) {
                report.report("attachments can't all be read: \(damage)")
            }
            if let damage = try Self.damage({ try verifyExpirations(in: reader, &report) }) {
                report.report("expirations can't all be read: \(damage)")
            }
            if let damage = try Self.damage({ try verifyJournal(in: reader, &report) }) {
                report.report("the journal can't all be read: \(damage)")
            }
        }
        return report
    }

    /// Runs a part of the check; returns the damage that ended it before its time.
    private static func damage(_ part: () throws -> Void) throws -> DatabaseError? {
        do { try part() } catch let error as DatabaseError where error.code == .corrupt { return error }
        return nil
    }

    private func verifyExpirations(in reader: any StorageReader, _ report: inout VerificationReport) throws {
        for (id, time) in try reader.expirations(through: .max, limit: .max) {
            if try reader.expiration(of: id) != time { report.report("\(id): its date to expire is damaged") }
            if try reader.storedRecord(of: id, withContent: false) == nil {
                report.report("\(id): has a date to expire but is not there")
            }
        }
    }

    private func verifyJournal(in reader: any StorageReader, _ report: inout VerificationReport) throws {
        var last: Int64 = 0
        while case let page = try reader.journalEntries(after: last, limit: 500), let end = page.last {
            for entry in page {
                guard try reader.storedRecord(of: entry.documentID, withContent: false) != nil else {
                    report.report("\(entry.documentID): has an operation in the journal but is not there")
                    continue
                }
                if let damage = try Self.damage({ _ = try reader.resolved([entry]) }) {
                    report.report("\(entry.documentID): \(damage.message)")
                }
            }
            last = end.number
        }
    }

    private func verifyBlobs(
        in reader: any StorageReader, _ report: inout VerificationReport,
        _ progress: (MaintenanceProgress) throws -> Void
    ) throws {
        var last: BlobDigest?
        while case let page = try reader.blobs(after: last, limit: 1000), let newest = page.last {
            for digest in page.map(\.digest) { verifyBlob(digest, &report) { try reader.blob($0) } }
            last = newest.digest
            try progress(MaintenanceProgress("attachments", report.blobs, of: report.blobs))
        }
    }

    func verifyBlob(_ digest: BlobDigest, _ report: inout VerificationReport, _ lookUp: BlobLookup) {
        report.blobs += 1
        do {
            guard let record = try lookUp(digest) else { return }
            try verify(record, &report)
        } catch { report.report("attachment content \(digest) can't be read: \(error)") }
    }

    private func verify(_ record: BlobRecord, _ report: inout VerificationReport) throws {
        let (md5, sha256) = (MD5(), SHA256())
        let reader = try AttachmentReader(record, store: blobs, expands: false, range: nil, checksDigest: false)
        var length: Int64 = 0
        while let piece = try reader.read() {
            md5.update(piece)
            piece.withUnsafeBytes { sha256.update($0) }
            length += Int64(piece.count)
        }
        if sha256.finish() != record.digest.bytes || md5.finish() != record.md5 || length != record.length {
            report.report("attachment content \(record.digest) is damaged: its digests or its length differ")
        }
    }
}
