package import SettleCore
internal import SettleCrypto
internal import SettlePlatform

extension Database {
    /// Reads everything in the database and checks every invariant.
    ///
    /// It checks the structure of the file; every tree; that each leaf has its content and each content belongs to
    /// one revision; that contents match their checksums, bodies are compact JSON, and ids of revisions made here
    /// are the hash of the stored data; that every attachment's content exists, with its digests and lengths; that
    /// the indexes and counts are right. If a write-ahead log was damaged when the database was opened, it is
    /// reported as long as its copy is kept. The check changes nothing. It reads one state, so concurrent writes are
    /// not mistaken for damage.
    ///
    /// It has one page of documents in memory at a time, and one piece of an attachment. Besides, it needs memory for
    /// all dates of expiration, and some dozen bytes for each document, with which it compares the counts.
    ///
    /// - Parameter progress: Called with the progress.
    /// - Returns: Counts, and a line for each problem.
    /// - Throws: ``DatabaseError`` if the system can't read, or with code `closed`; damage is a line of the report.
    public func verify(
        progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> VerificationReport {
        var report = VerificationReport()
        for problem in try capabilities.maintain(.check).problems { report.report("file: \(problem)") }
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

    /// Runs a part of the check; returns the damage that ended it early, if any.
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

// MARK: - VerificationReport

/// The results of ``Database/verify(progress:)``.
public struct VerificationReport: Sendable, Hashable {
    /// The number of documents that were checked.
    public var documents = 0
    /// The number of revisions in their trees.
    public var revisions = 0
    /// The number of contents of revisions that were read and checked.
    public var contents = 0
    /// The number of contents of attachments that were read and checked.
    public var blobs = 0
    /// The first thousand problems, one line each; empty for a sound database.
    public internal(set) var problems: [String] = []

    /// Whether no problem was found.
    public var isSound: Bool { problems.isEmpty }

    mutating func report(_ problem: String) {
        if problems.count < 1000 { problems.append(problem) }
    }
}

// MARK: - DocumentVerifier

/// Checks all documents of one state of a database, and records the problems.
struct DocumentVerifier {
    let reader: any StorageReader
    private(set) var report: VerificationReport
    private var counts = DocumentCounts()
    private var conflicts: [ConflictKind: Int] = [:]
    private var tokens = TokenSum()
    private var last: DocumentID?
    /// The number of documents with revisions that can't be read.
    private var unreadable = 0
    private let hasher = RevisionHasher()

    init(reader: any StorageReader, report: VerificationReport) {
        self.reader = reader
        self.report = report
    }

    mutating func run(_ progress: (MaintenanceProgress) throws -> Void) throws {
        let counted = try reader.counts()
        let total = counted.live + counted.deleted
        var range = DocumentRange()
        var size = PageSize()
        while true {
            let page = try reader.records(in: range, limit: size.count, withContent: true)
            size.learn(page)
            for record in page { try check(record) }
            guard let newest = page.last else { break }
            range.after = newest.id
            try progress(MaintenanceProgress("documents", report.documents, of: total))
        }
        if total != report.documents { try checkIDs() }
        // Unreadable parts are missing from all sums.
        guard unreadable == 0 else { return }
        if counted != counts { report.report("the counts are \(counted), but there are \(counts)") }
        try checkOrphans()
        try checkConflicts()
    }

    /// Reports the rows whose id is damaged. They are missing from the documents in the order of ids.
    private mutating func checkIDs() throws {
        var range = SequenceRange()
        while case let page = try reader.records(changedIn: range, limit: 500, withContent: false),
            let newest = page.last
        {
            for record in page where record.tree.isEmpty {
                guard let damage = record.damage,
                    try reader.storedRecord(of: record.id, withContent: false)?.sequence != record.sequence
                else { continue }
                unreadable += 1
                report.report(damage.message)
            }
            range.after = newest.sequence
        }
    }

    /// Checks a document. Documents must be passed in the order of their ids.
    mutating func check(_ record: DocumentRecord) throws {
        report.documents += 1
        report.revisions += record.tree.count
        let newest = try reader.lastSequence
        if let last, last >= record.id { report.report("\(record.id): stands out of order") }
        last = record.id
        if let damage = record.damage {
            report.report("\(record.id): \(damage.message)")
            if record.tree.isEmpty {
                unreadable += 1
                return
            }
        }
        if record.sequence > newest { report.report("\(record.id): its sequence is past the newest one") }
        if let broken = record.tree.brokenInvariant { report.report("\(record.id): \(broken)") }
        guard let winner = record.tree.winner else { return report.report("\(record.id): has no revision") }
        if winner.isDeleted { counts.deleted += 1 } else { counts.live += 1 }
        if record.tree.isConflicted { conflicts[.branches, default: 0] += 1 }
        if record.tree.isContested { conflicts[.deletion, default: 0] += 1 }
        for node in record.tree.allNodes { try check(node, winner, record) }
    }

    private mutating func check(_ node: RevisionNode, _ winner: RevisionNode, _ record: DocumentRecord) throws {
        let name = "\(record.id) \(node.revision)"
        let isInRecord = node.bodyToken == BodyToken.record
        if isInRecord != (node.revision == winner.revision) {
            report.report("\(name): the document's own content must be the winner's")
        }
        if node.bodyToken == BodyToken.none {
            if node.isLeaf { report.report("\(name): is a leaf without content") }
            return
        }
        if !isInRecord { tokens.add(node.bodyToken) }
        // The problem of the document already covers this.
        if isInRecord, record.damage != nil { return }
        let kept: RevisionContent?
        do { kept = try reader.content(of: node, in: record) } catch let error as DatabaseError
            where error.code == .damagedDocument
        { return report.report("\(name): \(error.message)") }
        guard let content = kept else { return report.report("\(name): its content is missing") }
        report.contents += 1
        checkBody(content, node, name, record.tree)
        for attachment in content.attachments { try check(attachment, of: name) }
    }

    private mutating func checkBody(
        _ content: RevisionContent, _ node: RevisionNode, _ name: String, _ tree: RevisionTree
    ) {
        do {
            let read = try DocumentBody(utf8: content.body.utf8)
            if read.utf8 != content.body.utf8 { report.report("\(name): its body is not in compact form") }
        } catch { report.report("\(name): its body is damaged: \(error)") }
        if let expected = hasher.revision(of: content, as: node, in: tree), expected != node.revision {
            report.report("\(name): its content hashes to \(expected)")
        }
    }

    private mutating func check(_ attachment: DocumentAttachment, of name: String) throws {
        guard let blob = try reader.blob(attachment.blob) else {
            return report.report("\(name): the content of \"\(attachment.name)\" is missing")
        }
        if blob.md5 != attachment.digest.md5 || blob.length != attachment.encodedLength {
            report.report("\(name): \"\(attachment.name)\" is not what its digest or length says")
        }
    }

    private mutating func checkOrphans() throws {
        var kept = TokenSum()
        var token: UInt64 = 0
        while case let page = try reader.contentTokens(after: token, limit: 1000), let newest = page.last {
            for token in page { kept.add(token) }
            token = newest
        }
        if kept != tokens {
            report.report("\(kept.count) contents are kept apart, but revisions name \(tokens.count) or others")
        }
    }

    private mutating func checkConflicts() throws {
        for kind in ConflictKind.allCases {
            let indexed = try reader.count(.conflicted(kind, DocumentRange()))
            let counted = conflicts[kind, default: 0]
            if indexed != counted {
                report.report("the index has \(indexed) conflicts of \(kind), but there are \(counted)")
            }
        }
    }
}

/// A fingerprint of a collection of tokens, independent of their order, in constant memory.
private struct TokenSum: Equatable {
    private(set) var count = 0
    private var sum: UInt64 = 0

    mutating func add(_ token: UInt64) {
        count += 1
        var mixed = (token ^ token >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        sum &+= mixed ^ mixed >> 31
    }
}

// MARK: - DamageNotes

/// The damaged documents that were reported to the app, so that each is reported once while the database is open.
final class DamageNotes: Sendable {
    private let named = Guarded<Set<DocumentID>>([])
    /// The maximum number of remembered documents; if a file has more, some are reported again.
    private static let limit = 1000

    /// Records a document; returns whether it is new.
    func add(_ id: DocumentID) -> Bool {
        named.withLock { named in
            if named.count >= Self.limit { named.removeAll() }
            return named.insert(id).inserted
        }
    }
}

extension Database {
    /// Reports the damaged documents of a page to the app, because bulk reads skip them.
    ///
    /// - Returns: The same documents.
    func noting(_ page: [DocumentRecord]) -> [DocumentRecord] {
        for record in page { if let damage = record.damage { report(damage, of: record.id) } }
        return page
    }

    /// Reports a damaged document to the app, the first time.
    package func report(_ damage: DatabaseError, of id: DocumentID) {
        if damages.add(id) { warn(damage.message) }
    }
}
