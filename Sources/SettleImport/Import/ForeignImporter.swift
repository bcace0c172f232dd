internal import Foundation
internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase

/// Stores the documents of another product's database, one batch per transaction: revisions where branches begin before the
/// leaves, contents of attachments before their documents.
///
/// The place of a batch and the report up to it are stored in the same transaction, so that a second run of an
/// interrupted import goes on from there, if it takes the same documents in the same way.
struct ForeignImporter {
    private static let batch = 1000

    let store: any ImportStore
    let reader: any ForeignReader
    let options: ImportOptions
    /// The documents that are passed over, if any.
    private let pushed: PushRecord?
    private let lost: (ImportReport.Fault) -> Void
    private(set) var report: ImportReport
    private var revisions: [(revision: ReplicatedRevision, isLeaf: Bool)] = []
    /// The documents of the revisions, without contents.
    private var documents: [ForeignDocument] = []
    private var bytes = 0
    /// The sequence of the last document that was read.
    private var last: UInt64 = 0
    private var contents: [(place: ForeignAttachment, made: DocumentAttachment)] = []

    init(
        _ source: ForeignDatabase, _ reader: any ForeignReader, _ store: any ImportStore, _ options: ImportOptions,
        without pushed: PushRecord?, _ lost: @escaping (ImportReport.Fault) -> Void
    ) {
        (self.store, self.reader, self.options, self.lost) = (store, reader, options, lost)
        self.pushed = pushed
        report = ImportReport(source)
        report.leftOut = reader.leftOut
    }

    /// Imports a collection, and the local documents with the default one.
    ///
    /// - Parameter progress: Called after each document.
    /// - Throws: ``ForeignFileError`` or ``DatabaseError``; what `progress` throws.
    mutating func run(_ progress: (ImportProgress) throws -> Void) throws {
        let total = try reader.count(in: options.collection)
        let start = try resumed()
        do {
            try reader.forEachDocument(in: options.collection, after: start) { document in
                let before = report
                do { try read(document) } catch {
                    // The next run reads the document again.
                    report = before
                    throw error
                }
                last = document.sequence
                if revisions.count >= Self.batch || bytes >= ImportLimits.batchBytes { try flush() }
                try progress(
                    ImportProgress(
                        documents: report.documents, total: total, attachmentBytes: report.attachmentBytes))
            }
        } catch let error where !(error is DatabaseError) {
            try flush()
            throw error
        }
        try flush()
        if options.collection == reader.collections.first ?? defaultCollection { try importLocals() }
        try store.transaction { try store.setMark(nil) }
    }

    private mutating func importLocals() throws {
        var locals: [(DocumentID, DocumentBody)] = []
        try reader.forEachLocalDocument { locals.append(($0, $1)) }
        let (store, all) = (store, locals)
        try store.transaction { for (id, body) in all { try store.saveLocal(id, body) } }
        report.localDocuments = locals.count
        // Now those that can't be read are among it.
        report.leftOut = reader.leftOut
    }
}

// MARK: - Documents

extension ForeignImporter {
    private mutating func read(_ document: ForeignDocument) throws {
        if let pushed, try pushed.includes(document) {
            report.documents += 1
            report.pushed += 1
        } else {
            try adopt(pushed == nil ? document : continued(document))
        }
    }

    /// A document that was not pushed, after the revision that the server has.
    private func continued(_ document: ForeignDocument) throws -> ForeignDocument {
        try document.continued { try store.history(of: document.id, endingIn: $0) }
    }

    private mutating func adopt(_ document: ForeignDocument) throws {
        contents = []
        report.documents += 1
        for fault in document.faults { record(fault, document.id) }
        var kept: [(revision: ReplicatedRevision, isLeaf: Bool)] = []
        for base in document.bases { kept.append((try adopted(base, isLeaf: false), false)) }
        for leaf in document.leaves { kept.append((try adopted(leaf, isLeaf: true), true)) }
        var light = document
        light.leaves = []
        light.bases = []
        documents.append(light)
        revisions += kept
        bytes += kept.reduce(500) { $0 + $1.revision.body.utf8.count }
        let live = document.leaves.count { !$0.isDeleted }
        if live > 1 { report.conflicts += 1 }
        if live == 0, !document.leaves.isEmpty { report.tombstones += 1 }
        if document.shown != nil { report.recordOtherWinner(document.id) }
    }

    private mutating func adopted(
        _ revision: Revision<ForeignAttachment>, isLeaf: Bool
    ) throws -> Revision<DocumentAttachment> {
        var attachments: [DocumentAttachment] = []
        for attachment in revision.attachments {
            do {
                let made = try stored(attachment)
                attachments.append(made)
                if isLeaf {
                    report.attachments += 1
                    report.attachmentBytes += made.encodedLength
                }
            } catch let error as ForeignFileError where error.code == .missing || error.code == .damaged {
                if options.isStrict { throw error }
                guard isLeaf else { continue }
                record(
                    ForeignFault(
                        revision: revision.history.revision, attachment: attachment.name, message: error.message),
                    revision.id)
            }
        }
        return revision.with(attachments)
    }

    private mutating func record(_ fault: ForeignFault, _ id: DocumentID) {
        let fault = ImportReport.Fault(
            id: id, revision: fault.revision, attachment: fault.attachment, message: fault.message)
        report.record(fault)
        lost(fault)
    }

    /// The content of an attachment, stored and compared with its digest; that of another revision if it is the same.
    private mutating func stored(_ attachment: ForeignAttachment) throws -> DocumentAttachment {
        if let digest = attachment.digest,
            let known = contents.first(where: {
                $0.place.digest == digest && $0.place.isGzip == attachment.isGzip
            })
        {
            return try Self.named(known.made, attachment)
        }
        if case .missing(let message) = attachment.place { throw ForeignFileError(.missing, message) }
        let writer = try store.attachmentImporter.database.attachmentWriter(
            contentType: attachment.contentType, encoding: attachment.isGzip ? .gzip : .identity)
        let check = DigestCheck(attachment.digest)
        do {
            try reader.read(attachment) { piece in
                check.update(piece)
                try Self.takingInvalidAsDamage { try writer.write(piece) }
            }
            guard check.isRight() else {
                throw ForeignFileError(.damaged, "the content has another digest than the file says")
            }
        } catch {
            writer.discard()
            throw error
        }
        let made = try Self.takingInvalidAsDamage { try writer.finish(name: "content") }
        contents.append((attachment, made))
        return try Self.named(made, attachment)
    }

    /// A stored content under the name in the file.
    private static func named(
        _ made: DocumentAttachment, _ attachment: ForeignAttachment
    ) throws -> DocumentAttachment {
        try takingInvalidAsDamage {
            try made.described(
                as: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos)
        }
    }

    /// What the database refuses, such as a name that starts with `_`, is damage in the file and does not end the import.
    private static func takingInvalidAsDamage<Value>(_ make: () throws -> Value) throws -> Value {
        do { return try make() } catch let error as DatabaseError where error.code == .invalid {
            throw ForeignFileError(.damaged, error.message)
        }
    }
}

// MARK: - Batches

extension ForeignImporter {
    /// Writes what was collected, with its place and the report up to there.
    private mutating func flush() throws {
        guard !documents.isEmpty else { return }
        let (store, options, last, before) = (store, options, last, report)
        let (revisions, documents, place) = (revisions, documents, place)
        var after = before
        var refused: [ImportReport.Fault] = []
        try store.transaction {
            after = before
            refused = []
            for (outcome, item) in zip(try store.insert(revisions.map(\.revision)), revisions) {
                guard let fault = after.count(outcome, of: item.revision, isLeaf: item.isLeaf) else { continue }
                refused.append(fault)
            }
            for document in documents {
                if let date = document.expiration, try Self.expire(document.id, date, in: store) {
                    after.expirations += 1
                }
                if options.keepsWinners, let shown = document.shown { try store.keep(shown, of: document.id) }
            }
            // Several documents may have the first sequence: those of which the file has none.
            if last > 1, var mark = place {
                mark["sequence"] = .string(String(last))
                mark["report"] = after.json
                try store.setMark(.object(mark))
            }
        }
        report = after
        (self.revisions, self.documents, bytes) = ([], [], 0)
        refused.forEach(lost)
    }

    private static func expire(_ id: DocumentID, _ date: Date, in store: any ImportStore) throws -> Bool {
        do { return try store.setExpiration(date, of: id) } catch let error as DatabaseError
            where error.code == .notFound
        { return false }
    }

    /// The source and the options of an import, as its mark stores them; `nil` if the source has no identity.
    private var place: JSONObject? {
        guard let identity = reader.identity else { return nil }
        return [
            "source": .string(identity), "collection": .string(options.collection),
            "pushed": (pushed?.mark).map(JSONValue.string) ?? .null, "keeps_winners": .bool(options.keepsWinners),
            "strict": .bool(options.isStrict),
        ]
    }

    /// The sequence after which an interrupted import of the same source continues, whose report this one continues; 0
    /// if the source has no identity, or if that import passed over other documents or treated conflicts or attachments
    /// in another way. Marks of earlier versions don't say all of that, so the import begins anew.
    private mutating func resumed() throws -> UInt64 {
        guard let place, let mark = try store.mark(), place.allSatisfy({ mark[$0.name] == $0.value }),
            let sequence = mark["sequence"]?.string.flatMap({ UInt64($0) }),
            let whole = mark["report"].flatMap({ report.continued(from: $0) })
        else { return 0 }
        report = whole
        return sequence
    }
}

extension ImportReport {
    /// Counts what became of a revision.
    ///
    /// - Returns: The fault, if the destination refused the revision.
    fileprivate mutating func count(
        _ outcome: ImportOutcome, of revision: ReplicatedRevision, isLeaf: Bool
    ) -> Fault? {
        switch outcome {
        case .stored, .skipped: if isLeaf { leaves += 1 }
        case .known:
            if isLeaf { (leaves, known) = (leaves + 1, known + 1) }
        case .failed(let error):
            let fault = Fault(
                id: revision.id, revision: revision.history.revision, attachment: nil,
                message: (error as? DatabaseError)?.message ?? "\(error)")
            record(fault)
            return fault
        }
        return nil
    }
}

extension PushRecord {
    /// The record as the mark of an import has it: two options with the same record pass over the same documents.
    fileprivate var mark: String {
        switch self {
        case .ofEachDocument: "each"
        case .upTo(let sequence): String(sequence)
        case .unknown: "unknown"
        }
    }
}

// MARK: - DigestCheck

/// Computes the digest of a content while it is read.
final class DigestCheck {
    private let expected: ForeignDigest?
    private let sha1: SHA1?
    private let md5: MD5?

    init(_ expected: ForeignDigest?) {
        self.expected = expected
        switch expected {
        case .sha1: (sha1, md5) = (SHA1(), nil)
        case .md5: (sha1, md5) = (nil, MD5())
        case nil: (sha1, md5) = (nil, nil)
        }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        sha1?.update(bytes)
        md5?.update(bytes)
    }

    /// Whether all that was read has the expected digest; the object is used up.
    func isRight() -> Bool {
        switch expected {
        case .sha1(let digest): sha1?.finish() == digest
        case .md5(let digest): md5?.finish() == digest
        case nil: true
        }
    }
}
