internal import SettleCore
internal import SettleDatabase

/// A write that has locked the database's row, on its own connection; see ``WriteSession``.
final class LockedSession: WriteSession {
    private let link: ConnectionLink
    private let node: String
    /// The row, including the changes sent so far.
    private(set) var state: DatabaseState
    /// The row at the time of the lock.
    let start: DatabaseState
    /// Whether changes were sent that wait for the commit.
    private(set) var hasSent = false

    /// Creates a session for a locked row.
    init(_ database: Int64, _ link: ConnectionLink, node: String, state: DatabaseState, settings: SettingsCache.Values)
    {
        (self.link, self.node, self.state, start) = (link, node, state, state)
        super.init(database, link, settings: settings)
        changes.sequence = state.sequence
    }

    /// The sequence after the changes of this write; the stored row is updated at the commit.
    override var lastSequence: UpdateSequence { UpdateSequence(changes.sequence) }

    override func prepareForScan() throws { try send() }

    override func newToken() throws -> UInt64 {
        state.token += 1
        return UInt64(state.token)
    }

    override func changed() throws {
        if changes.bytes > Self.maximumBytes { try send() }
    }

    /// Reads a document that this write has not read yet, because `apply` needs to know at once whether it exists.
    override func assumeAbsent(_ id: DocumentID) throws { try prepare([id], withContent: false) }

    override func require(_ lease: JobLease) throws {
        let found = try ask(
            .requireLease, .bytes(Array(lease.job.utf8)), .text(node), .integer(lease.term))
        guard found.count > 0 else {
            throw DatabaseError(
                .conflict, "the job \"\(lease.job)\" no longer belongs to this node; nothing was written")
        }
    }

    override func beginPart() throws -> (undo: () -> Void, keep: () throws -> Void) {
        try send()
        _ = try ask([PostgresCall(.savepoint)])
        let (before, settingsBefore) = (state, sentSettings)
        return (
            undo: { [self] in
                let token = state.token
                (state, sentSettings) = (before, settingsBefore)
                // Contents of the part are removed, but the caller may already know their tokens.
                state.token = token
                try? link.undoPart()
            },
            keep: { [self] in
                try send()
                _ = try ask([PostgresCall(.releaseSavepoint)])
            }
        )
    }

    /// Removes and returns the statements for changes that were not sent, without those that end the transaction.
    func dequeueCalls() throws -> [PostgresCall] {
        let set = changes.set
        // Sent changes are in the tables and can be read from there, so memory does not grow with the write.
        (changes.set, changes.documents, changes.places, changes.bytes) = (ChangeSet(), [:], [:], 0)
        guard !set.isEmpty else { return [] }
        var tallies = Tallies()
        let written = try set.calls(database, &state, &tallies)
        return written + (tallies.call(database).map { [$0] } ?? [])
    }

    /// Makes sure that tokens given later are greater than `token`.
    func raiseToken(to token: Int64) { state.token = max(state.token, token) }

    /// Increases the newest sequence without a change.
    func raiseSequence(to sequence: Int64) { (state.sequence, changes.sequence) = (sequence, sequence) }

    /// Sends the changes, so that queries see them.
    private func send() throws {
        let changed = changedSettings
        try checkUploads()
        let calls = try dequeueCalls()
        sentSettings.merge(changed) { _, new in new }
        guard !calls.isEmpty else { return }
        hasSent = true
        _ = try ask(calls)
    }

    /// The settings that were changed and sent.
    private var sentSettings: [SideRecord.Key: SideRecord?] = [:]

    private var changedSettings: [SideRecord.Key: SideRecord?] {
        changes.set.records.filter { if case .setting = $0.key { true } else { false } }
    }

    override func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        if changes.set.records[key] == nil, let sent = sentSettings[key] { return sent }
        return try super.sideRecord(key)
    }

    /// Checks that the uploads of new contents exist.
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
        changes.count += 1
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
    /// The failure of a statement, after which the transaction can't be committed.
    private(set) var failure: DatabaseError?

    init(_ connection: PostgresConnection) { self.connection = connection }

    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        if let failure { throw failure }
        do { return try connection.run(calls) } catch let refusal as PostgresFailure {
            failure = refusal.error
            throw refusal.error
        }
    }

    /// Undoes everything since the last savepoint, including a failure.
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
