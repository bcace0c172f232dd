internal import SettleCore

/// Goes through all documents of one state of a database and notes what is wrong with them.
struct DocumentVerifier {
    let reader: any StorageReader
    private(set) var report: VerificationReport
    private var counts = DocumentCounts()
    private var conflicts: [ConflictKind: Int] = [:]
    private var tokens = TokenSum()
    private var last: DocumentID?
    /// How many documents have revisions that can't be read.
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
        while true {
            let page = try reader.records(in: range, limit: 500, withContent: true)
            for record in page { try check(record) }
            guard let newest = page.last else { break }
            range.after = newest.id
            try progress(MaintenanceProgress("documents", report.documents, of: total))
        }
        if total != report.documents { try checkIDs() }
        // What can't be read is missing from all sums.
        guard unreadable == 0 else { return }
        if counted != counts { report.report("the counts are \(counted), but there are \(counts)") }
        try checkOrphans()
        try checkConflicts()
    }

    /// Names the rows whose id is damaged, which are not among the documents in the order of their ids.
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

    /// Checks a document. Documents have to be passed in the order of their ids.
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
        // The problem of the document says it already.
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

/// A fingerprint of a collection of tokens, whatever their order, in constant memory.
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
