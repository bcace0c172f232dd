internal import SettleCore
internal import SettleDatabase

/// A write: the reads and changes of its closure, on top of the stored state.
///
/// There are two kinds. An *optimistic* session reads without a lock, and its changes are committed only if
/// everything it has read is unchanged. A *locked* session locks the database's row at the start, and sends its
/// changes when a query needs them.
///
///     optimistic   read ─ read ─ closure ends ─→ ChangeSet ─→ CommitQueue: lock, compare, write, commit
///     locked       lock ─ read ─ change ─ question about a range: changes are sent ─ … ─→ write, commit
///
/// An optimistic session can't verify a query about a range or a number of documents later. Such a query needs the
/// lock: the session says so, and its closure runs again in a locked session.
class WriteSession: PostgresReader, StorageWriter {
    /// The changes that the write will commit.
    struct Changes {
        var set = ChangeSet()
        /// The documents that were read or changed, in their state within this write. A document without an entry
        /// was not read.
        var documents: [DocumentID: Entry] = [:]
        /// The positions of changed documents in the list of changes.
        var places: [DocumentID: Int] = [:]
        var actions: [@Sendable () -> Void] = []
        /// The number of changes that were made.
        var count = 0
        /// Their approximate size in bytes.
        var bytes = 0
        /// The sequence of the newest change.
        var sequence: Int64 = 0
    }

    /// A document in its state within this write.
    struct Entry {
        /// `nil` if the document does not exist.
        var record: DocumentRecord?
        var hasContent: Bool
    }

    var changes = Changes()
    /// The error with which the open part must fail, although its closure may continue.
    private var doomed: (any Error)?
    /// The settings by name.
    let settings: SettingsCache.Values

    init(_ database: Int64, _ link: any PostgresLink, settings: SettingsCache.Values) {
        self.settings = settings
        super.init(database, link)
    }

    /// The maximum size of changes in memory, in bytes.
    static let maximumBytes = 16 << 20

    // MARK: - Differences between the two kinds

    /// Called before a query about more than single documents and side records.
    func prepareForScan() throws {}

    /// A token for a new content.
    func newToken() throws -> UInt64 { throw DatabaseError(.storage, "a session without tokens") }

    /// Called with each change; the changes may now be too many for memory.
    func changed() throws {}

    /// Begins a part that can fail alone. Returns closures that undo and keep it.
    func beginPart() throws -> (undo: () -> Void, keep: () throws -> Void) { ({}, {}) }

    /// Called before a document is removed.
    func prepareForRemoval() throws {}

    /// Stores a content under a given token, for an exact copy.
    func putContent(_ content: RevisionContent, at token: UInt64) throws { throw Self.onlyLocked }

    func require(_ lease: JobLease) throws {}

    func requireCurrentDesign() throws {}

    func restore(_ record: DocumentRecord) throws { throw Self.onlyLocked }

    func restoreSequence(_ sequence: UpdateSequence) throws { throw Self.onlyLocked }

    private static var onlyLocked: DatabaseError {
        DatabaseError(.invalid, "what is restored for an exact copy is written by `hold` only")
    }

    // MARK: - Documents

    /// Fetches documents that the write has not read.
    override func prepare(_ ids: [DocumentID], withContent: Bool) throws {
        var missing: [DocumentID] = []
        var known: Set<DocumentID> = []
        for id in ids where known.insert(id).inserted {
            if let entry = changes.documents[id], entry.hasContent || !withContent || entry.record == nil { continue }
            missing.append(id)
        }
        guard !missing.isEmpty else { return }
        let rows = try rows(of: missing, withContent: withContent)
        let found = Dictionary(rows.map { ($0.record.id, $0) }) { first, _ in first }
        for id in missing {
            // If a changed document's content is read again, its changes stay.
            if changes.places[id] != nil { continue }
            let row = found[id]
            let base = row.map {
                ChangeSet.Base(sequence: $0.record.sequence.number, edition: $0.edition, flags: $0.record.flags)
            }
            let expected = base ?? ChangeSet.Base()
            if let before = changes.set.expected[id], before != expected { markStale() }
            if changes.set.expected[id] == nil { changes.set.expected[id] = expected }
            changes.documents[id] = Entry(record: row?.record, hasContent: withContent)
        }
    }

    /// Called when two reads of a document differ, so that the write can't be committed.
    func markStale() {}

    override func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try prepare([id], withContent: withContent)
        guard var record = changes.documents[id]?.record else { return nil }
        if !withContent { record.content = nil }
        return record
    }

    func apply(_ change: DocumentChange) throws -> UpdateSequence? {
        switch change {
        case .insert(let record):
            // A document that was not read is assumed to be absent, which the commit checks.
            if let entry = changes.documents[record.id], entry.record != nil { return nil }
            if changes.documents[record.id] == nil { try assumeAbsent(record.id) }
            if changes.documents[record.id]?.record != nil { return nil }
            return try write(record)
        case .update(let record):
            guard try isExpected(record) else { return nil }
            return try write(record)
        case .updateTree(let record):
            guard try isExpected(record), var entry = changes.documents[record.id] else { return nil }
            entry.record?.tree = record.tree
            if let place = changes.places[record.id], case .write(var written) = changes.set.documents[place].change {
                written.tree = record.tree
                changes.set.documents[place].change = .write(written)
            } else {
                append(.tree(record), record.id)
            }
            changes.documents[record.id] = entry
            try changed()
            return record.sequence
        case .remove(let record):
            try prepareForRemoval()
            guard try isExpected(record) else { return nil }
            append(.remove, record.id)
            changes.sequence += 1
            changes.documents[record.id] = Entry(record: nil, hasContent: true)
            try changed()
            return UpdateSequence(changes.sequence)
        }
    }

    /// Assumes that a document that was not read does not exist.
    func assumeAbsent(_ id: DocumentID) throws {
        changes.set.expected[id] = ChangeSet.Base()
        changes.documents[id] = Entry(record: nil, hasContent: true)
    }

    private func isExpected(_ record: DocumentRecord) throws -> Bool {
        if changes.documents[record.id] == nil { try prepare([record.id], withContent: false) }
        return changes.documents[record.id]?.record?.sequence == record.sequence
    }

    private func write(_ record: DocumentRecord) throws -> UpdateSequence {
        try checkLength(of: record.id)
        guard let content = record.content else {
            throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be written without its content")
        }
        changes.sequence += 1
        var record = record
        record.sequence = UpdateSequence(changes.sequence)
        append(.write(record), record.id)
        changes.documents[record.id] = Entry(record: record, hasContent: true)
        changes.bytes += content.body.utf8.count + 200
        try changed()
        return record.sequence
    }

    /// Records a document that is written under the sequence it has.
    func recordRestored(_ record: DocumentRecord) throws {
        try checkLength(of: record.id)
        changes.sequence = record.sequence.number
        append(.restore(record), record.id)
        changes.documents[record.id] = Entry(record: record, hasContent: true)
        changes.bytes += (record.content?.body.utf8.count ?? 0) + 200
        try changed()
    }

    private func checkLength(of id: DocumentID) throws {
        guard id.string.utf8.count > PostgresEngine.longestID else { return }
        throw DatabaseError(
            .invalid,
            """
            the id \"\(id.string.prefix(40))…\" has \(id.string.utf8.count) bytes; a database in PostgreSQL takes ids of up to \
            \(PostgresEngine.longestID)
            """)
    }

    /// Appends a change to the list, replacing an earlier change of the document.
    private func append(_ change: ChangeSet.DocumentChange, _ id: DocumentID) {
        changes.count += 1
        if let place = changes.places[id] {
            let isTree = if case .tree = changes.set.documents[place].change { true } else { false }
            changes.set.documents[place].change = .superseded(takesSequence: !isTree)
        }
        changes.places[id] = changes.set.documents.count
        changes.set.documents.append((id, change))
    }

    // MARK: - Contents

    func putContent(_ content: RevisionContent) throws -> UInt64 {
        let token = try newToken()
        changes.set.newContents[token] = content
        changes.count += 1
        changes.bytes += content.body.utf8.count + 100
        try changed()
        return token
    }

    override func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        try record(key) { try super.sideRecord(key) }
    }

    // MARK: - Parts and actions

    func afterCommit(_ action: @escaping @Sendable () -> Void) { changes.actions.append(action) }

    func part<Result>(_ body: () throws -> Result) throws -> Result {
        let outer = doomed
        doomed = nil
        defer { doomed = outer }
        let (undo, keep) = try beginPart()
        let saved = changes
        do {
            let result = try whole { _ in try body() }
            try keep()
            return result
        } catch {
            undo()
            changes = saved
            throw error
        }
    }

    /// Runs a closure as the whole content of this write.
    func whole<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        let result = try body(self)
        if let doomed { throw doomed }
        return result
    }

    /// Runs a closure as a part of the surrounding write: if it fails midway, that write can't succeed.
    func joined<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        let before = changes.count
        do { return try body(self) } catch {
            if changes.count != before, doomed == nil { doomed = error }
            throw error
        }
    }

    // MARK: - Questions about ranges

    override var lastSequence: UpdateSequence {
        get throws {
            try prepareForScan()
            return try super.lastSequence
        }
    }

    override func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try prepareForScan()
        return try super.records(scan, limit: limit, withContent: withContent)
    }

    override func ids(_ scan: DocumentScan, skipping skipped: Int, limit: Int) throws -> [DocumentID] {
        try prepareForScan()
        return try super.ids(scan, skipping: skipped, limit: limit)
    }

    override func count(_ scan: DocumentScan) throws -> Int {
        try prepareForScan()
        return try super.count(scan)
    }

    override func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        try prepareForScan()
        return try super.sideRecords(scan, limit: limit)
    }
}

// MARK: - Side

/// Side records in a write.
extension WriteSession {
    func put(_ record: SideRecord) throws {
        changes.count += 1
        switch record {
        case .blob(let blob):
            // An existing content stays unchanged, and its row does no harm.
            changes.count -= 1
            changes.set.removedBlobs.remove(blob.digest)
            changes.set.newBlobs[blob.digest] = blob
            changes.bytes += blob.content?.count ?? 0
        case .journal: throw Self.withoutJournal
        case .content(let token, let content):
            changes.count -= 1
            guard let content, Self.isToken(token) else {
                throw DatabaseError(.invalid, "no content can have the token \(token)")
            }
            try putContent(content, at: token)
        case .local(let document): changes.set.records[.local(document.id)] = .some(record)
        case .setting(let name, _): changes.set.records[.setting(name)] = .some(record)
        case .expiration(let id, _): changes.set.records[.expiration(id)] = .some(record)
        }
        if case .local(let document) = record { changes.bytes += document.body.utf8.count }
        try changed()
    }

    func remove(_ key: SideRecord.Key) throws {
        if case .content(let token) = key, !Self.isToken(token) { return }
        changes.count += 1
        switch key {
        case .blob(let digest):
            changes.set.newBlobs[digest] = nil
            changes.set.removedBlobs.insert(digest)
        case .journal: break
        case .content(let token):
            if changes.set.newContents.removeValue(forKey: token) == nil { changes.set.removedContents.insert(token) }
        default: changes.set.records[key] = .some(nil)
        }
    }

    /// A side record in its state within this write. Reads are compared at the commit.
    func record(_ key: SideRecord.Key, stored: () throws -> SideRecord?) throws -> SideRecord? {
        switch key {
        case .journal: return nil
        case .content(let token):
            if let new = changes.set.newContents[token] { return .content(token, new) }
            return changes.set.removedContents.contains(token) ? nil : try stored()
        case .blob(let digest):
            if changes.set.removedBlobs.contains(digest) { return nil }
            guard let found = try stored() else {
                return changes.set.newBlobs[digest].map(SideRecord.blob)
            }
            changes.set.neededBlobs.insert(digest)
            return found
        case .setting(let name):
            if let changed = changes.set.records[key] { return changed }
            changes.set.settingsAge = settings.age
            return settings.values[name].map { .setting(name: name, value: $0) }
        default:
            if let changed = changes.set.records[key] { return changed }
            if let seen = changes.set.seen[key] { return seen }
            let found = try stored()
            changes.set.seen[key] = .some(found)
            return found
        }
    }

    /// Whether a separately stored content can have this token.
    private static func isToken(_ token: UInt64) -> Bool {
        token >= BodyToken.firstApart && token <= UInt64(Int64.max)
    }

    private static var withoutJournal: DatabaseError {
        DatabaseError(.invalid, "a database in PostgreSQL has no journal of local changes: that is a device's")
    }
}
