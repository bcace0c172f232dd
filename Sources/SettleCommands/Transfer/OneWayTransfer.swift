internal import Settle

/// Brings one database what another one has, both on this machine: every leaf with its history and attachments, and then
/// the bases that a merge of conflicts needs.
///
///     changes of the source ─→ revisionsDiff of the target ─→ bodies, attachments ─→ insertReplicated
///
/// All documents are compared each time. Memory is bounded, and what was written when it is interrupted is whole.
final class OneWayTransfer {
    private let source: Database
    private let target: Database
    private let report: (DocumentID, RevisionID, DatabaseError) -> Void
    private var batch: [ReplicatedRevision] = []
    private var batchBytes: Int64 = 0
    /// Contents that are on their way with the batch.
    private var arriving: [BlobDigest: Attachment] = [:]
    /// What was brought so far.
    private(set) var counts = TransferCounts()
    private static let pageLength = 500
    private static let largestBatch: Int64 = 8 * 1024 * 1024

    /// Makes a transfer, which reports each revision that can't be brought.
    init(
        from source: Database, to target: Database, report: @escaping (DocumentID, RevisionID, DatabaseError) -> Void
    ) {
        self.source = source
        self.target = target
        self.report = report
    }

    /// Brings all leaves; `progress` is told which share of the source's changes is done.
    func run(progress: (Double) -> Void) throws {
        let last = Double(max(try source.lastSequence().number, 1))
        var page: [Change] = []
        try source.forEachChange(in: SequenceRange(), style: .allLeaves) { change in
            page.append(change)
            if page.count == Self.pageLength {
                try take(page)
                page = []
                progress(Double(change.sequence.number) / last)
            }
            return true
        }
        try take(page)
        try flush()
    }

    private func take(_ page: [Change]) throws {
        try Interruption.check()
        let diff = try target.revisionsDiff(page.map { ($0.id, $0.leaves) })
        let missing = Dictionary(diff.map { ($0.id, $0.missing) }) { first, _ in first }
        for change in page {
            counts.documents += 1
            guard let leaves = missing[change.id] else { continue }
            let isPlain = change.leaves.count == 1 && change.winner.generation == 1
            let tree = isPlain ? nil : try source.tree(of: change.id)
            for leaf in leaves {
                let isDeletion = change.isDeleted && leaf == change.winner
                do {
                    guard try add(leaf, of: change.id, tree, isDeletion: isDeletion) else {
                        throw DatabaseError(.corrupt, "the content of \(leaf) is missing")
                    }
                } catch let error as DatabaseError where error.code == .corrupt || error.code == .attachmentMissing {
                    // One damaged document does not keep the others.
                    counts.refused += 1
                    report(change.id, leaf, error)
                }
                try flushIfFull()
            }
        }
    }

    /// Brings the bases of conflicts that are kept in the source alone, once both have the same leaves: whoever has a
    /// conflict can merge it then.
    func bringBases() throws {
        for kind in ConflictKind.allCases {
            var last: DocumentID?
            while case let page = try source.conflictedDocumentIDs(kind, after: last, limit: Self.pageLength),
                let newest = page.last
            {
                try Interruption.check()
                for id in page {
                    let tree = try source.tree(of: id)
                    for base in tree?.branchPoints ?? [] where try target.document(id, revision: base) == nil {
                        _ = try add(base, of: id, tree)
                        try flushIfFull()
                    }
                }
                last = newest
            }
        }
        try flush()
    }

    /// Adds a revision to the batch; returns whether its content is kept.
    private func add(
        _ revision: RevisionID, of id: DocumentID, _ tree: RevisionTree?, isDeletion: Bool = false
    ) throws -> Bool {
        guard let document = try source.document(id, revision: revision) else { return false }
        let history = tree?.history(of: revision) ?? RevisionHistory(revision)
        var replicated = ReplicatedRevision(
            id: id, history: history, isDeleted: document.isDeleted, body: try document.body(),
            attachments: try document.attachments.map(bring))
        replicated.isDeletionAtSource = isDeletion
        batch.append(replicated)
        batchBytes += Int64(replicated.body.utf8.count)
        return true
    }

    /// Sees that the target has an attachment's content, or gets it with the batch.
    private func bring(_ attachment: Attachment) throws -> Attachment {
        if try target.holds(attachment) { return attachment }
        let content = try arriving[attachment.blob] ?? copy(attachment)
        arriving[attachment.blob] = content
        return try content.described(
            as: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
            encoding: attachment.encoding, length: attachment.length)
    }

    private func copy(_ attachment: Attachment) throws -> Attachment {
        let writer = try target.attachmentWriter(contentType: attachment.contentType, encoding: .identity)
        let reader = try source.attachmentReader(for: attachment, encoded: true)
        while let piece = try reader.read() {
            try Interruption.check()
            try writer.write(piece)
        }
        counts.attachments += 1
        batchBytes += attachment.encodedLength
        return try writer.finish(name: attachment.name)
    }

    private func flushIfFull() throws {
        if batch.count >= 2 * Self.pageLength || batchBytes >= Self.largestBatch { try flush() }
    }

    private func flush() throws {
        for (revision, outcome) in zip(batch, try target.insertReplicated(batch)) {
            switch outcome {
            case .stored: counts.revisions += 1
            case .known: break
            case .refused(let error):
                counts.refused += 1
                report(revision.id, revision.history.revision, error)
            }
        }
        counts.bytes += batchBytes
        batch = []
        batchBytes = 0
        arriving = [:]
    }
}

extension Database {
    /// Whether the content of an attachment of another database is here.
    fileprivate func holds(_ attachment: Attachment) throws -> Bool {
        do {
            _ = try attachmentReader(for: attachment, encoded: true)
            return true
        } catch let error as DatabaseError where error.code == .attachmentMissing { return false }
    }
}
