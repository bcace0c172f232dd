internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Keeps an index in a separate file up to date with a database.
///
///     changes of the database ─→ mapper ─→ emissions ─→ writer ─→ file
///       a page at a time          several pages at once   one transaction a batch
///
/// The last processed change is stored in the same transaction as the rows of a batch, so the update resumes from
/// there, even after the process was killed. The index is rebuilt if it was made for another database, in another
/// order of strings or another format, or if it is ahead of the database.
final class IndexFollower<Writer: IndexWriting>: Sendable {
    private let path: String
    private let includesDesign: Bool
    /// Everything that the rows depend on in addition to the documents, such as the order of strings.
    private let flavour: String
    private let open: @Sendable (String) throws -> Writer
    private let writer = Guarded<Lent<Writer>?>(nil)
    /// Whether the index is damaged and has to be rebuilt.
    private let isDamaged = Guarded(false)
    /// Whether the index may have rows of changes that were undone, and has to be rebuilt.
    private let hasUndoneRows: Guarded<Bool>
    /// The commit that the index was updated to, if known.
    private let reached = Guarded<Commit?>(nil)

    /// The number of pages, and of bytes of documents, that are mapped at once. They last while a batch is written, so that workers do
    /// not wait for the writer.
    private static var pagesAtOnce: Int { 32 }
    private static var bytesAtOnce: Int { 8 << 20 }
    /// The number of documents, or bytes of rows, after which a batch is written.
    private static var batchLength: Int { 20_000 }
    private static var batchBytes: Int { 24 << 20 }

    /// Creates a follower. The file is opened or created at its first use.
    init(
        at place: IndexPlace, includesDesign: Bool, flavour: String, open: @escaping @Sendable (String) throws -> Writer
    ) {
        (path, hasUndoneRows) = (place.path, place.hasUndoneRows)
        self.includesDesign = includesDesign
        self.flavour = flavour
        self.open = open
    }

    /// Whether nothing was committed since the index was updated.
    func isCurrent(with source: any DocumentSource) -> Bool {
        guard let newest = source.newestCommit, !isDamaged.withLock({ $0 }) else { return false }
        return reached.withLock { $0 == newest }
    }

    /// Updates the index. A concurrent caller waits for the current update, and continues from its result.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - mapper: Maps documents to rows.
    ///   - renew: Closes the readers of the file, which is then recreated.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the update, and
    ///     completed batches are kept.
    /// - Throws: ``DatabaseError``, or errors of the mapper, a reducer, or `report`.
    func update(
        from database: Database, by mapper: any ViewMapper, renew: () -> Void,
        report: (_ done: Int, _ total: Int) throws -> Void
    ) throws {
        guard !isCurrent(with: database) else { return }
        try writer.withLock { writer in
            let newest = database.newestCommit
            reached.withLock { $0 = nil }
            // A snapshot may show an older state, and a transaction may show a state that is rolled back.
            defer {
                if let newest, writer?.value.state.sequence == newest.sequence { reached.withLock { $0 = newest } }
            }
            var mayRepair = true
            while true {
                do {
                    if isDamaged.withLock({ $0 }) { throw DatabaseError(.corrupt, "the index was found damaged") }
                    let current = try writer?.value ?? open(path)
                    writer = Lent(current)
                    try check(current, database)
                    let target = try database.lastSequence()
                    guard current.state.sequence < target else { return }
                    return try catchUp(current, to: target, of: database, by: mapper, report)
                } catch {
                    // The writer's cached statements are invalid now.
                    writer = nil
                    guard mayRepair, Self.isDamage(error) else { throw error }
                    mayRepair = false
                    database.warn("an index can't be read and is built anew: \(error)", in: .query)
                    renew()
                    IndexFile.remove(path)
                    isDamaged.withLock { $0 = false }
                }
            }
        }
    }

    /// Closes the file for writing; the next update opens it again.
    func close() { writer.withLock { $0 = nil } }

    /// Records an error of a reader: if the index is damaged, the next update rebuilds it.
    func record(_ error: any Error) {
        if Self.isDamage(error) { isDamaged.withLock { $0 = true } }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let code = (error as? DatabaseError)?.code else { return false }
        return code == .corrupt || code == .notADatabase
    }

    // MARK: Catching up

    /// Checks that the file belongs to this database, and removes purged documents.
    private func check(_ writer: Writer, _ database: Database) throws {
        let instance = try database.instanceName()
        let purges = try PurgeLog.count(in: database)
        let state = writer.state
        // An index that has processed more purges has seen a transaction that was rolled back.
        let isOurs =
            state.instance == instance && state.collation == flavour && state.purges <= purges
            && !hasUndoneRows.withLock { $0 }
        guard isOurs, try state.sequence <= database.lastSequence(), try knows(state, purges, database) else {
            var fresh = IndexState()
            (fresh.instance, fresh.collation, fresh.purges) = (instance, flavour, purges)
            try writer.clear(fresh)
            return hasUndoneRows.withLock { $0 = false }
        }
        guard state.purges < purges else { return }
        var next = state
        next.purges = purges
        let gone = try PurgeLog.purged(after: state.purges, in: database) ?? missing(writer, database)
        if let witness = Self.witness(of: state)?.id, try database.storedRecord(of: witness, withContent: false) == nil
        {
            next.witness = ""
        }
        // Recreated documents have been mapped again, or will be.
        let changes = try Set(gone).filter { try database.storedRecord(of: $0, withContent: false) == nil }
            .map { IndexChange(id: $0, emissions: []) }
        try writer.apply(changes, reaching: next)
    }

    /// Whether the database has the last change that the index has processed, or a later one of the same document,
    /// or has purged the document since. If not, the change was rolled back.
    private func knows(_ state: IndexState, _ purges: Int64, _ database: Database) throws -> Bool {
        guard state.sequence > 0, !state.witness.isEmpty else { return true }
        guard let witness = Self.witness(of: state) else { return false }
        guard let record = try database.storedRecord(of: witness.id, withContent: false) else {
            guard state.purges < purges else { return false }
            return try PurgeLog.purged(after: state.purges, in: database)?.contains(witness.id) ?? true
        }
        if record.sequence > state.sequence { return true }
        // For a document that was damaged since, only the sequence can be compared.
        if record.damage != nil { return record.sequence == state.sequence }
        return record.sequence == state.sequence && record.tree.winner?.revision.description == witness.revision
    }

    private static func witness(of state: IndexState) -> (revision: String, id: DocumentID)? {
        let parts = state.witness.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? (String(parts[0]), DocumentID(unchecked: String(parts[1]))) : nil
    }

    /// The documents that have rows but are no longer in the database.
    private func missing(_ writer: Writer, _ database: Database) throws -> [DocumentID] {
        var gone: [DocumentID] = []
        var last: DocumentID?
        while case let page = try writer.documents(after: last, limit: 500), !page.isEmpty {
            gone += try page.filter { try database.storedRecord(of: $0, withContent: false) == nil }
            last = page.last
        }
        return gone
    }

    /// A page of documents being mapped.
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
        var size = PageSize(maximumCount: 500)
        var pages: [Page] = []
        var bytesInPages = 0
        var batch = ChangeBatch()
        var state = writer.state
        while true {
            while pages.count < Self.pagesAtOnce, bytesInPages < Self.bytesAtOnce, since < target {
                let records = try database.records(
                    changedIn: SequenceRange(after: since), limit: size.count, withContent: true)
                guard let last = records.last else {
                    // A purge increases the sequence without a change.
                    since = target
                    break
                }
                since = last.sequence
                let mapped = records.map {
                    $0.damage == nil && !$0.tree.isDeleted && (includesDesign || !$0.id.isDesign)
                }
                let chosen = zip(records, mapped).filter { $1 }.map { $0.0 }
                size.learn(records)
                pages.append(
                    Page(records: records, mapped: mapped, mapping: try mapper.start(chosen)))
                bytesInPages += records.contentLength
            }
            guard !pages.isEmpty else { break }
            let page = pages.removeFirst()
            bytesInPages -= page.records.contentLength
            var emissions = try page.mapping.wait()[...]
            for (record, isMapped) in zip(page.records, page.mapped) {
                batch.add(record.id, isMapped ? emissions.popFirst() ?? [] : [])
            }
            done += page.records.count
            if let last = page.records.last {
                state.sequence = last.sequence
                // A damaged document can't be a witness, because its winner can't be read.
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

// MARK: - IndexWriting

/// Writes documents' emissions to an index file, one transaction per batch.
protocol IndexWriting: AnyObject {
    /// The connection to the file, whose table `documents` has the ids of documents with rows.
    var connection: SQLiteConnection { get }
    /// The state up to which the index was updated.
    var state: IndexState { get }

    /// Applies changes, at most one per document, and stores the resulting state.
    ///
    /// - Throws: ``DatabaseError``, or errors of a reducer; then nothing is changed.
    func apply(_ changes: [IndexChange], reaching state: IndexState) throws

    /// Removes all rows.
    func clear(_ state: IndexState) throws
}

extension IndexWriting {
    /// The ids of up to `limit` documents with rows, after an id.
    func documents(after id: DocumentID?, limit: Int) throws -> [DocumentID] {
        let statement = try SQLiteStatement(
            "SELECT id FROM documents WHERE id > ?1 ORDER BY id LIMIT ?2", on: connection)
        statement.bind(1, utf8: id?.string ?? "")
        statement.bind(2, Int64(limit))
        return try statement.all { DocumentID(unchecked: $0.string(0)) }
    }
}

// MARK: - ChangeBatch

/// The latest changes of documents, one per document.
struct ChangeBatch {
    private(set) var changes: [IndexChange] = []
    /// The approximate memory of the rows, in bytes.
    private(set) var bytes = 0
    private var places: [DocumentID: Int] = [:]

    /// Adds a document's emissions.
    mutating func add(_ id: DocumentID, _ emissions: [Emission]) {
        let change = IndexChange(id: id, emissions: emissions)
        bytes += emissions.reduce(64) { $0 + $1.key.count * 3 + $1.value.count + 64 }
        if let place = places[id] {
            changes[place] = change
        } else {
            places[id] = changes.count
            changes.append(change)
        }
    }
}

/// A document's current emissions; empty if the document was removed.
struct IndexChange {
    let id: DocumentID
    let emissions: [Emission]
}
