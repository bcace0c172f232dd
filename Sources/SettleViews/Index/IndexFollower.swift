internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

/// Follows a database with an index in a file of its own.
///
///     changes of the database ─→ mapper ─→ emissions ─→ writer ─→ file
///       a page at a time          several pages at once   one transaction a batch
///
/// It knows the last change it has seen, so that it goes on from there, also after its process was killed: what it has of a
/// batch, and how far that brings it, are written together. It is built anew when it was made for another database, in
/// another order of strings or another form, or knows more than the database does.
final class IndexFollower<Writer: IndexWriting>: Sendable {
    private let path: String
    private let includesDesign: Bool
    /// What the rows depend on besides the documents, such as the order of strings.
    private let flavour: String
    private let open: @Sendable (String) throws -> Writer
    private let writer = Guarded<Writer?>(nil)
    /// Whether it was found damaged, and is to be built anew.
    private let isDamaged = Guarded(false)
    /// The commit that the index was brought to, if it is known.
    private let reached = Guarded<Commit?>(nil)

    /// How many documents are mapped at a time.
    private static var pageLength: Int { 500 }
    /// About how many bytes of documents are mapped at a time.
    private static var pageBytes: Int { 1 << 20 }
    /// How many pages are on their way at once.
    private static var pagesAtOnce: Int { 4 }
    /// After how many documents, or bytes of rows, what is there is written.
    private static var batchLength: Int { 20_000 }
    private static var batchBytes: Int { 24 << 20 }

    /// Makes one; the file is opened, or made, when it is first needed.
    init(
        path: String, includesDesign: Bool, flavour: String, open: @escaping @Sendable (String) throws -> Writer
    ) {
        self.path = path
        self.includesDesign = includesDesign
        self.flavour = flavour
        self.open = open
    }

    /// Whether nothing was committed since the index was brought up to date.
    func isCurrent(with database: Database) -> Bool {
        guard let newest = database.newestCommit, !isDamaged.withLock({ $0 }) else { return false }
        return reached.withLock { $0 == newest }
    }

    /// Brings the index to where the database is now. Who calls while another does so waits, and goes on from there.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - mapper: What makes rows of its documents.
    ///   - renew: Lets go of whoever reads the file, which is made anew.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the work, and what is done stays.
    /// - Throws: ``DatabaseError``, or what the mapper, a reducer, or `report` throws.
    func update(
        from database: Database, by mapper: any ViewMapper, renew: () -> Void,
        report: (_ done: Int, _ total: Int) throws -> Void
    ) throws {
        guard !isCurrent(with: database) else { return }
        try writer.withLock { writer in
            let newest = database.newestCommit
            reached.withLock { $0 = nil }
            // A snapshot may show an older state, and a transaction one that will never have been.
            defer {
                if let newest, writer?.state.sequence == newest.sequence { reached.withLock { $0 = newest } }
            }
            var mayRepair = true
            while true {
                do {
                    if isDamaged.withLock({ $0 }) { throw DatabaseError(.corrupt, "the index was found damaged") }
                    let current = try writer ?? open(path)
                    writer = current
                    try check(current, database)
                    let target = try database.lastSequence()
                    guard current.state.sequence < target else { return }
                    return try catchUp(current, to: target, of: database, by: mapper, report)
                } catch {
                    // What its statements hold is begun anew.
                    writer = nil
                    guard mayRepair, Self.isDamage(error) else { throw error }
                    mayRepair = false
                    database.warn("an index can't be read and is built anew: \(error)")
                    renew()
                    IndexFile.remove(path)
                    isDamaged.withLock { $0 = false }
                }
            }
        }
    }

    /// Closes the file for writing; the next update opens it again.
    func close() { writer.withLock { $0 = nil } }

    /// Takes note of what a reader has met: the next one who has the index brought up to date has a damaged one built anew.
    func note(_ error: any Error) {
        if Self.isDamage(error) { isDamaged.withLock { $0 = true } }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let code = (error as? DatabaseError)?.code else { return false }
        return code == .corrupt || code == .notADatabase
    }

    // MARK: Catching up

    /// Sees that what is in the file is of this database, and takes out what was purged.
    private func check(_ writer: Writer, _ database: Database) throws {
        let instance = try database.instanceName()
        let purges = try PurgeLog.count(in: database)
        let state = writer.state
        // One that knows more purges knows some of a transaction that has failed.
        let isOurs = state.instance == instance && state.collation == flavour && state.purges <= purges
        guard isOurs, try state.sequence <= database.lastSequence(), try knows(state, purges, database) else {
            var fresh = IndexState()
            (fresh.instance, fresh.collation, fresh.purges) = (instance, flavour, purges)
            return try writer.clear(fresh)
        }
        guard state.purges < purges else { return }
        var next = state
        next.purges = purges
        let gone = try PurgeLog.purged(after: state.purges, in: database) ?? missing(writer, database)
        if let witness = Self.witness(of: state)?.id, try database.storedRecord(of: witness, withContent: false) == nil
        {
            next.witness = ""
        }
        // One that is there again has been mapped anew, or will be.
        let changes = try Set(gone).filter { try database.storedRecord(of: $0, withContent: false) == nil }
            .map { IndexChange(id: $0, emissions: []) }
        try writer.apply(changes, reaching: next)
    }

    /// Whether the database knows the last change that the index has seen, or a later one of the same document, or has purged
    /// that since. It does not when the change was of a transaction that has failed.
    private func knows(_ state: IndexState, _ purges: Int64, _ database: Database) throws -> Bool {
        guard state.sequence > 0, !state.witness.isEmpty else { return true }
        guard let witness = Self.witness(of: state) else { return false }
        guard let record = try database.storedRecord(of: witness.id, withContent: false) else {
            guard state.purges < purges else { return false }
            return try PurgeLog.purged(after: state.purges, in: database)?.contains(witness.id) ?? true
        }
        if record.sequence > state.sequence { return true }
        // Of one that was damaged since nobody can tell.
        if record.damage != nil { return record.sequence == state.sequence }
        return record.sequence == state.sequence && record.tree.winner?.revision.description == witness.revision
    }

    private static func witness(of state: IndexState) -> (revision: String, id: DocumentID)? {
        let parts = state.witness.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? (String(parts[0]), DocumentID(unchecked: String(parts[1]))) : nil
    }

    /// The documents with rows that the database has no more.
    private func missing(_ writer: Writer, _ database: Database) throws -> [DocumentID] {
        var gone: [DocumentID] = []
        var last: DocumentID?
        while case let page = try writer.documents(after: last, limit: 500), !page.isEmpty {
            gone += try page.filter { try database.storedRecord(of: $0, withContent: false) == nil }
            last = page.last
        }
        return gone
    }

    /// Documents that are being mapped.
    private struct Page {
        let records: [DocumentRecord]
        let mapped: [Bool]
        let mapping: any ViewMapping
    }

    private func catchUp(
        _ writer: Writer, to target: UpdateSequence, of database: Database, by mapper: any ViewMapper,
        _ report: (Int, Int) throws -> Void
    ) throws {
        let total = try database.count(changedIn: SequenceRange(after: writer.state.sequence))
        var done = 0
        try report(done, total)
        var since = writer.state.sequence
        var limit = Self.pageLength
        var pages: [Page] = []
        var batch = ChangeBatch()
        var state = writer.state
        while true {
            while pages.count < Self.pagesAtOnce, since < target {
                let records = try database.records(
                    changedIn: SequenceRange(after: since), limit: limit, withContent: true)
                guard let last = records.last else {
                    // A purge moves the sequence on without a change.
                    since = target
                    break
                }
                since = last.sequence
                let mapped = records.map {
                    $0.damage == nil && !$0.tree.isDeleted && (includesDesign || !$0.id.isDesign)
                }
                let chosen = zip(records, mapped).filter { $1 }.map { $0.0 }
                pages.append(Page(records: records, mapped: mapped, mapping: try mapper.start(chosen)))
                let bytes = records.reduce(0) { $0 + ($1.content?.body.utf8.count ?? 0) }
                limit = min(max(records.count * Self.pageBytes / max(bytes, 1), 1), Self.pageLength)
            }
            guard !pages.isEmpty else { break }
            let page = pages.removeFirst()
            var emissions = try page.mapping.wait()[...]
            for (record, isMapped) in zip(page.records, page.mapped) {
                batch.add(record.id, isMapped ? emissions.popFirst() ?? [] : [])
            }
            done += page.records.count
            if let last = page.records.last {
                state.sequence = last.sequence
                // A damaged one is no witness, for there is nothing to know it by.
                state.witness = last.tree.winner.map { "\($0.revision) \(last.id)" } ?? ""
            }
            if batch.changes.count >= Self.batchLength || batch.bytes >= Self.batchBytes {
                try writer.apply(batch.changes, reaching: state)
                batch = ChangeBatch()
                try report(done, max(total, done))
            }
        }
        if state.sequence < target, state.sequence < since { state.sequence = target }
        try writer.apply(batch.changes, reaching: state)
        try report(done, max(total, done))
    }
}
