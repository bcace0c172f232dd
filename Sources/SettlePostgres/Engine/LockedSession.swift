internal import SettleCore
internal import SettleDatabase

/// A write that has the database's row locked, on a connection of its own; see ``WriteSession``.
final class LockedSession: WriteSession {
    /// What the changes that were sent have left.
    struct Sent {
        /// The locked row.
        var state: DatabaseState
        /// The settings that were changed.
        var settings: [SideRecord.Key: SideRecord?] = [:]
    }

    private let link: ConnectionLink
    private let node: String
    private var sent: Sent
    /// The locked row, as the changes sent so far leave it.
    var state: DatabaseState { sent.state }
    /// The row as it was when it was locked.
    let start: DatabaseState
    /// Whether changes were sent that wait for the commit.
    private(set) var hasSent = false

    /// Makes a session of a row that was locked.
    init(_ database: Int64, _ link: ConnectionLink, node: String, state: DatabaseState, settings: SettingsCache.Values)
    {
        (self.link, self.node, sent, start) = (link, node, Sent(state: state), state)
        super.init(database, link, settings: settings)
        changes.sequence = state.sequence
    }

    /// The row itself moves on at the commit.
    override var lastSequence: UpdateSequence { UpdateSequence(changes.sequence) }

    override func prepareForScan() throws { try send() }

    override func newToken() throws -> UInt64 {
        sent.state.token += 1
        return UInt64(state.token)
    }

    override func changed() throws {
        if changes.bytes > Self.maximumBytes { try send() }
    }

    /// Reads a document that this write has not read yet, because `apply` says at once whether it is there.
    override func assumeAbsent(_ id: DocumentID) throws { try prepare([id], withContent: false) }

    override func require(_ lease: JobLease) throws {
        let found = try ask(
            .requireLease, .bytes(Array(lease.job.utf8)), .text(node), .integer(lease.term))
        guard found.count > 0 else {
            throw DatabaseError(
                .conflict, "the job \"\(lease.job)\" no longer belongs to this node; nothing was written")
        }
    }

    override func beginPart() throws -> Part {
        try send()
        _ = try ask([PostgresCall(.savepoint)])
        return Part(changes: changes, sent: sent)
    }

    override func keepPart(_ part: Part) throws {
        try send()
        _ = try ask([PostgresCall(.releaseSavepoint)])
    }

    override func undoPart(_ part: Part, after error: any Error) {
        let token = state.token
        if let before = part.sent { sent = before }
        // Contents of the part are gone, but their tokens may be known outside.
        sent.state.token = token
        try? link.undoPart()
        super.undoPart(part, after: error)
    }

    /// The statements of what was changed and not sent, without those that end the transaction.
    func dequeueCalls() throws -> [PostgresCall] {
        let set = changes.set
        // Sent changes are in the tables now and are read from there if needed, so memory does not grow with the write.
        (changes.set, changes.documents, changes.places, changes.bytes) = (ChangeSet(), [:], [:], 0)
        guard !set.isEmpty else { return [] }
        var tallies = Tallies()
        let written = try set.calls(database, &sent.state, &tallies)
        return written + (tallies.call(database).map { [$0] } ?? [])
    }

    /// Sees that tokens given later are higher than one.
    func raiseToken(to token: Int64) { sent.state.token = max(state.token, token) }

    /// Moves the newest sequence on without a change.
    func raiseSequence(to sequence: Int64) { (sent.state.sequence, changes.sequence) = (sequence, sequence) }

    /// Sends what was changed, so that questions see it.
    private func send() throws {
        let changed = changedSettings
        try checkUploads()
        let calls = try dequeueCalls()
        sent.settings.merge(changed) { _, new in new }
        guard !calls.isEmpty else { return }
        hasSent = true
        _ = try ask(calls)
    }

    private var changedSettings: [SideRecord.Key: SideRecord?] {
        changes.set.records.filter { if case .setting = $0.key { true } else { false } }
    }

    override func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        if changes.set.records[key] == nil, let setting = sent.settings[key] { return setting }
        return try super.sideRecord(key)
    }

    /// Sees that the uploads are there which new contents name.
    func checkUploads() throws {
        let new = changes.set.newBlobs.values.filter { $0.place != nil }
        guard !new.isEmpty else { return }
        let number = PostgresValue.integer(database)
        let found = try ask([
            PostgresCall(.uploadsThere, number, .byteArrays(new.map(\.place))),
            PostgresCall(.blobsThere, number, .byteArrays(new.map(\.digest.bytes))),
        ])
        let there = Set(found.flatMap { rows in rows.map { rows.bytes($0, 0) } })
        if let lost = new.first(where: { !there.contains($0.place ?? []) && !there.contains($0.digest.bytes) }) {
            throw Comparison.lost(lost)
        }
    }

    // MARK: - Exact copies

    override func restore(_ record: DocumentRecord) throws {
        guard record.sequence.number > changes.sequence else {
            throw DatabaseError(
                .invalid,
                "\"\(record.id)\" can't be restored at \(record.sequence): changes go up to \(changes.sequence)")
        }
        guard record.content != nil else {
            throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be restored without its content")
        }
        guard try storedRecord(of: record.id, withContent: false) == nil else {
            throw DatabaseError(.conflict, "\"\(record.id)\" can't be restored, for it is there already")
        }
        try recordRestored(record)
    }

    override func putContent(_ content: RevisionContent, at token: UInt64) throws {
        guard try self.content(at: token) == nil else {
            throw DatabaseError(.conflict, "there is a content with the token \(token) already")
        }
        changes.set.newContents[token] = content
        changes.set.removedContents.remove(token)
        nesting.changes += 1
        changes.bytes += content.body.utf8.count + 100
        raiseToken(to: Int64(clamping: token))
    }

    override func restoreSequence(_ sequence: UpdateSequence) throws {
        guard sequence.number >= changes.sequence else {
            throw DatabaseError(
                .invalid, "the newest sequence is \(changes.sequence) and can't become \(sequence)")
        }
        try prepareForScan()
        raiseSequence(to: sequence.number)
    }
}

/// A connection in a transaction.
final class ConnectionLink: PostgresLink {
    let connection: PostgresConnection
    /// The failure of a statement, because of which the transaction can't be committed.
    private(set) var failure: DatabaseError?

    init(_ connection: PostgresConnection) { self.connection = connection }

    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        if let failure { throw failure }
        do { return try connection.run(calls) } catch let refusal as PostgresFailure {
            failure = refusal.error
            throw refusal.error
        }
    }

    /// Undoes what was done since the last savepoint, and a failure since then.
    func undoPart() throws {
        do {
            _ = try connection.run([PostgresCall(.rollbackToSavepoint), PostgresCall(.releaseSavepoint)])
            failure = nil
        } catch let refusal as PostgresFailure {
            failure = refusal.error
            throw refusal.error
        }
    }
}
