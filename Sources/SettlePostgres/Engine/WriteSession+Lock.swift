internal import SettleCore
internal import SettleDatabase

/// The row of a database that a write has locked.
struct LockedRow {
    /// The connection whose transaction has the lock.
    let link: ConnectionLink
    /// The name of this node among the leases.
    let node: String
    /// The row as it was when it was locked.
    let start: DatabaseState
    /// The row as the changes sent so far leave it.
    var state: DatabaseState
    /// The settings that were changed and sent.
    var settings: [SideRecord.Key: SideRecord?] = [:]
    /// Whether changes were sent that wait for the commit.
    var hasSent = false

    init(_ state: DatabaseState, _ link: ConnectionLink, node: String) {
        (self.link, self.node, start, self.state) = (link, node, state, state)
    }
}

// MARK: - With and without the lock

extension WriteSession {
    /// Continues if the write has the lock. Otherwise this run of the closure ends, and it runs again with the lock.
    func requireLock() throws {
        guard row == nil else { return }
        needsLock = true
        throw DatabaseError(.storage, "the write goes on with the lock of its database")
    }

    /// Called before a question about more than single documents and side records, which must see the changes.
    func prepareForScan() throws {
        try requireLock()
        try send()
    }

    /// Called after each change, because there may be too many for memory.
    func changed() throws {
        if changes.bytes > Self.maximumBytes { try prepareForScan() }
    }

    /// Assumes that a document is absent that was not read; the commit checks that. With the lock it is read, because `apply` then has
    /// to say whether it is there.
    func assumeAbsent(_ id: DocumentID) throws {
        guard row == nil else { return try prepare([id], withContent: false) }
        changes.set.expected[id] = ChangeSet.Base()
        changes.documents[id] = Entry(record: nil, hasContent: true)
    }

    func require(_ lease: JobLease) throws {
        try requireLock()
        guard let row else { return }
        let found = try ask(
            .requireLease, .bytes(Array(lease.job.utf8)), .text(row.node), .integer(lease.term))
        guard found.count > 0 else {
            throw DatabaseError(
                .conflict, "the job \"\(lease.job)\" no longer belongs to this node; nothing was written")
        }
    }

    // MARK: - Sending

    /// The statements of what was changed and not sent, without those that end the transaction.
    func dequeueCalls() throws -> [PostgresCall] {
        let set = changes.set
        // Sent changes are in the tables now and are read from there if needed, so memory does not grow with the write.
        (changes.set, changes.documents, changes.places, changes.bytes) = (ChangeSet(), [:], [:], 0)
        guard !set.isEmpty, var state = row?.state else { return [] }
        var tallies = Tallies()
        let written = try set.calls(database, &state, &tallies)
        row?.state = state
        return written + (tallies.call(database).map { [$0] } ?? [])
    }

    /// Sends what was changed, so that questions see it.
    private func send() throws {
        let settings = changes.set.records.filter { if case .setting = $0.key { true } else { false } }
        try checkUploads()
        let calls = try dequeueCalls()
        row?.settings.merge(settings) { _, new in new }
        guard !calls.isEmpty else { return }
        row?.hasSent = true
        _ = try ask(calls)
    }

    /// Checks that the uploads are there that new contents name.
    func checkUploads() throws {
        let new = changes.set.newBlobs.values.filter { $0.place != nil }
        guard !new.isEmpty else { return }
        let found = try ask([
            .lock(new.compactMap(\.place), of: database),
            PostgresCall(.blobsThere, .integer(database), .byteArrays(new.map(\.digest.bytes))),
        ])
        let there = Set(found.flatMap { rows in rows.map { rows.bytes($0, 0) } })
        if let lost = new.first(where: { !there.contains($0.place ?? []) && !there.contains($0.digest.bytes) }) {
            throw Comparison.lost(lost)
        }
    }
}

// MARK: - Parts

extension WriteSession {
    /// The state of a write before one of its parts.
    struct Part {
        let changes: Changes
        /// `nil` without the lock.
        let row: LockedRow?
    }

    /// A failed transaction refuses its statements, and without the lock no transaction is open.
    func checkTransaction() {}

    func beginPart() throws -> Part {
        if row != nil {
            try send()
            _ = try ask([PostgresCall(.savepoint)])
        }
        return Part(changes: changes, row: row)
    }

    func keepPart(_ part: Part) throws {
        guard row != nil else { return }
        try send()
        _ = try ask([PostgresCall(.releaseSavepoint)])
    }

    func undoPart(_ part: Part, after error: any Error) {
        changes = part.changes
        guard var before = part.row, let row else { return }
        // Contents of the part are gone, but their tokens may be known outside. It stays true that changes were sent.
        (before.state.token, before.hasSent) = (row.state.token, row.hasSent)
        self.row = before
        try? before.link.undoPart()
    }
}

// MARK: - Exact copies

extension WriteSession {
    func restore(_ record: DocumentRecord) throws {
        try requireHold()
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

    /// Keeps a content at a token that it has elsewhere.
    func putContent(_ content: RevisionContent, at token: UInt64) throws {
        try requireLock()
        guard try self.content(at: token) == nil else {
            throw DatabaseError(.conflict, "there is a content with the token \(token) already")
        }
        changes.set.newContents[token] = content
        changes.set.removedContents.remove(token)
        nesting.changes += 1
        changes.bytes += content.body.utf8.count + 100
        // Tokens given later are higher.
        row?.state.token = max(row?.state.token ?? 0, Int64(clamping: token))
    }

    func restoreSequence(_ sequence: UpdateSequence) throws {
        try requireHold()
        guard sequence.number >= changes.sequence else {
            throw DatabaseError(
                .invalid, "the newest sequence is \(changes.sequence) and can't become \(sequence)")
        }
        try prepareForScan()
        row?.state.sequence = sequence.number
        changes.sequence = sequence.number
    }

    private func requireHold() throws {
        guard row == nil else { return }
        throw DatabaseError(.invalid, "what is restored for an exact copy is written by `hold` only")
    }
}
