internal import SettleCore
internal import SettleDatabase

/// A write: the reads and changes of its closure, on top of the stored state.
///
/// It has two ways. An *optimistic* session reads without a lock, and its changes are committed if all it has read is still so. A
/// *locked* session has the database's row (``LockedRow``) from the beginning and sends its changes when a question needs them.
///
///     optimistic   read ─ read ─ closure ends ─→ ChangeSet ─→ WriteQueue: lock, compare, write, commit
///     locked       lock ─ read ─ change ─ question about a range: changes are sent ─ … ─→ write, commit
///
/// A question that an optimistic session can't compare later, about a range or a number of documents, needs the lock: the session
/// says so, and its closure runs again in a locked one.
final class WriteSession: PostgresReader, NestingWriter {
    /// The changes that the write will commit.
    struct Changes {
        var set = ChangeSet()
        /// The documents that were read or changed, in their state within this write. A document without an entry
        /// was not read.
        var documents: [DocumentID: Entry] = [:]
        /// The positions of changed documents in the list of changes.
        var places: [DocumentID: Int] = [:]
        /// About how many bytes they have.
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

    /// With the lock or without it.
    enum Way {
        /// Tokens of contents are reserved, and design documents compared with the age that observers were notified of.
        case optimistic(tokens: ContentTokens, designAge: () -> Int64)
        case locked(LockedRow)
    }

    var changes = Changes()
    var nesting = WriteNesting()
    /// Settings, as the session has them, by name.
    let settings: SettingsCache.Values
    private var way: Way
    /// Whether the closure of an optimistic session asked what can't be compared later, so that it has to run again with the lock.
    var needsLock = false
    /// Whether it is known already that an optimistic session can't be committed, because two readings of one document differ.
    private(set) var isStale = false

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - database: The number of the database.
    ///   - link: The connection or pool that answers its questions.
    ///   - settings: The settings as they were read last.
    ///   - way: Whether it has the lock.
    init(_ database: Int64, _ link: any PostgresLink, settings: SettingsCache.Values, _ way: Way) {
        (self.settings, self.way) = (settings, way)
        super.init(database, link)
        // An optimistic session gets its sequences at the commit. Until then its changes have places above all of them.
        changes.sequence = row?.state.sequence ?? 1 << 62
    }

    /// The locked row; `nil` in an optimistic session.
    var row: LockedRow? {
        get { if case .locked(let row) = way { row } else { nil } }
        set { if let newValue { way = .locked(newValue) } }
    }

    /// A token for a new content.
    private func newToken() throws -> UInt64 {
        switch way {
        case .optimistic(let tokens, _): return try tokens.next()
        case .locked(var row):
            row.state.token += 1
            way = .locked(row)
            return UInt64(row.state.token)
        }
    }

    /// Checks at the commit that no other node has changed a design document. With the lock none can.
    func requireCurrentDesign() {
        if case .optimistic(_, let designAge) = way { changes.set.designAge = designAge() }
    }

    /// The maximum size of changes in memory, in bytes.
    static let maximumBytes = 16 << 20

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
        let rows = try readAhead(missing) ?? rows(of: missing, withContent: withContent)
        let found = Dictionary(rows.map { ($0.record.id, $0) }) { first, _ in first }
        for id in missing {
            // If a changed document's content is read again, its changes stay.
            if changes.places[id] != nil { continue }
            let row = found[id]
            let base = row.map {
                ChangeSet.Base(sequence: $0.record.sequence.number, edition: $0.edition, flags: $0.record.flags)
            }
            let expected = base ?? ChangeSet.Base()
            if let before = changes.set.expected[id], before != expected { isStale = true }
            if changes.set.expected[id] == nil { changes.set.expected[id] = expected }
            changes.documents[id] = Entry(record: row?.record, hasContent: withContent)
        }
    }

    /// The document that came with what other nodes have changed. A locked session reads all documents under its lock.
    private func readAhead(_ ids: [DocumentID]) -> [DocumentRow]? {
        guard row == nil, ids.count == 1, let ahead = Freshness.request?.take(ids[0], of: database) else { return nil }
        return ahead.record.map { [DocumentRow(record: $0, edition: ahead.edition)] } ?? []
    }

    override func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try prepare([id], withContent: withContent)
        guard var record = changes.documents[id]?.record else { return nil }
        if !withContent { record.content = nil }
        return record
    }

    func apply(_ change: DocumentChange) throws -> UpdateSequence? {
        switch change {
        case .insert(let record):
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
            try requireLock()
            guard try isExpected(record) else { return nil }
            append(.remove, record.id)
            changes.sequence += 1
            changes.documents[record.id] = Entry(record: nil, hasContent: true)
            try changed()
            return UpdateSequence(changes.sequence)
        }
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

    /// Writes a document under the sequence it has.
    func recordRestored(_ record: DocumentRecord) throws {
        try checkLength(of: record.id)
        changes.sequence = record.sequence.number
        append(.restore(record), record.id)
        changes.documents[record.id] = Entry(record: record, hasContent: true)
        changes.bytes += (record.content?.body.utf8.count ?? 0) + 200
        try changed()
    }

    /// Checks that an id fits into an entry of an index.
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
        nesting.changes += 1
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
        nesting.changes += 1
        changes.bytes += content.body.utf8.count + 100
        try changed()
        return token
    }

    override func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        if changes.set.records[key] == nil, let setting = row?.settings[key] { return setting }
        return try record(key) { try super.sideRecord(key) }
    }

    // MARK: - Questions about ranges

    /// The locked row itself moves on at the commit.
    override var lastSequence: UpdateSequence {
        get throws {
            try requireLock()
            return UpdateSequence(changes.sequence)
        }
    }

    override func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try prepareForScan()
        return try super.records(scan, limit: limit, withContent: withContent)
    }

    override func page(of scan: DocumentScan, limit: Int) throws -> [DocumentID] {
        try prepareForScan()
        return try super.page(of: scan, limit: limit)
    }

    override func live(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        try prepareForScan()
        return try super.live(at: place, in: range)
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
        // PostgreSQL refuses a longer one only at the commit, and with it the other writes that the commit has.
        if case .local(let document) = record { try checkLength(of: document.id) }
        if case .expiration(let id, _) = record { try checkLength(of: id) }
        nesting.changes += 1
        switch record {
        case .blob(let blob):
            // The content of an attachment that is there stays as it is, and its row is harmless alone.
            nesting.changes -= 1
            changes.set.removedBlobs.remove(blob.digest)
            changes.set.newBlobs[blob.digest] = blob
            changes.bytes += blob.content?.count ?? 0
        case .journal: throw Self.withoutJournal
        case .content(let token, let content):
            nesting.changes -= 1
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
        nesting.changes += 1
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
