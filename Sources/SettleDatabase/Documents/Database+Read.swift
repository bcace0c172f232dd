public import SettleCore
internal import SettlePlatform

extension Database {
    /// The document's winner, which is the same on every peer; `nil` if the document does not exist or is deleted.
    ///
    /// The id may be a ``DocumentID``, a `String`, or the id of a model. With ``DatabaseOptions/Reads/local`` it is the local leaf while
    /// the document is in conflict.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for an invalid id, `damagedDocument`, `corrupt`,
    ///   `inputOutput` or `closed`.
    /// - Complexity: O(log *n*) in documents.
    public func document(_ id: some DocumentIDConvertible) throws -> Document? {
        try current(id.ofDocument()).flatMap { $0.isDeleted ? nil : $0 }
    }

    /// The state of a document that the app reads and edits, by ``DatabaseOptions/reads``; `nil` if the document
    /// does not exist.
    func current(_ id: DocumentID) throws -> Document? {
        func document(_ node: RevisionNode, _ content: RevisionContent) -> Document {
            Document(id: id, revision: node.revision, isDeleted: node.isDeleted, content, origin: identity)
        }
        switch options.reads {
        case .winner:
            guard let record = try engine.read({ try $0.record(of: id, withContent: true) }),
                let winner = record.tree.winner, let content = record.content
            else { return nil }
            return document(winner, content)
        case .local:
            return try engine.snapshot { reader in
                guard let record = try reader.record(of: id, withContent: true),
                    let node = options.reads.current(in: record.tree)
                else { return nil }
                return try reader.content(of: node, in: record).map { document(node, $0) }
            }
        }
    }

    /// A document at one of its revisions, tombstones included; `nil` if the revision is unknown or its content is
    /// not kept (see `compact(keepingOldContentsFor:progress:)`).
    public func document(_ id: some DocumentIDConvertible, revision: RevisionID) throws -> Document? {
        let id = try id.ofDocument()
        return try engine.snapshot { reader in
            guard let record = try reader.storedRecord(of: id, withContent: true)?.checkedTree(),
                let node = record.tree[revision]
            else {
                return nil
            }
            guard let content = try reader.content(of: node, in: record) else { return nil }
            return Document(id: id, revision: revision, isDeleted: node.isDeleted, content, origin: identity)
        }
    }

    /// The document of a record: its winner, with an empty body if the content is not in the record.
    package func winner(of record: DocumentRecord) -> Document {
        let winner = record.tree.winner
        return Document(
            id: record.id, revision: winner?.revision, isDeleted: winner?.isDeleted ?? false,
            record.content ?? RevisionContent(body: .empty), origin: identity)
    }

    /// The revision tree of a document, also of a deleted one; `nil` if the document does not exist.
    public func tree(of id: some DocumentIDConvertible) throws -> RevisionTree? {
        let id = try id.ofDocument()
        return try engine.read { try $0.record(of: id, withContent: false)?.tree }
    }

    /// The document at each of its leaves, winner first, tombstones included; empty for an unknown document
    /// (SEMANTICS 60, 143).
    public func leaves(of id: some DocumentIDConvertible) throws -> [Document] {
        let id = try id.ofDocument()
        return try engine.snapshot { reader in
            guard let record = try reader.record(of: id, withContent: true) else { return [] }
            return try record.tree.leaves.compactMap { node in
                try reader.content(of: node, in: record).map {
                    Document(id: id, revision: node.revision, isDeleted: node.isDeleted, $0, origin: identity)
                }
            }
        }
    }

    /// Documents in the byte order of their ids, without deleted ones. Damaged documents are left out and reported to
    /// ``DatabaseOptions/warn``.
    ///
    /// - Parameters:
    ///   - range: The range of ids; all by default.
    ///   - limit: The maximum number of documents, which are all in memory; unlimited by default.
    /// - Returns: The documents.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    public func documents(in range: DocumentRange = DocumentRange(), limit: Int? = nil) throws -> [Document] {
        var documents: [Document] = []
        try forEachDocument(in: range) { document in
            if let limit, documents.count >= limit { return false }
            documents.append(document)
            return true
        }
        return documents
    }

    /// Calls a closure for each document in the byte order of their ids, without deleted ones, until it returns
    /// `false`. Memory is bounded; each page of documents is a snapshot of the database. Damaged documents are left out
    /// and reported to ``DatabaseOptions/warn``.
    public func forEachDocument(
        in range: DocumentRange = DocumentRange(), _ body: (Document) throws -> Bool
    ) throws {
        var rest = range
        var size = PageSize()
        while true {
            let page = try engine.read { try $0.records(in: rest, limit: size.count, withContent: true) }
            size.learn(page)
            for record in noting(page) {
                guard let winner = record.tree.winner, !winner.isDeleted, let content = record.content else {
                    continue
                }
                let document = Document(
                    id: record.id, revision: winner.revision, isDeleted: false, content, origin: identity)
                guard try body(document) else { return }
            }
            guard let last = page.last else { return }
            if range.descending { rest.before = last.id } else { rest.after = last.id }
        }
    }

    /// The ids of documents in conflict, ascending, each once (SEMANTICS 66, 67).
    ///
    /// - Parameters:
    ///   - kind: The kind of conflict; by default two or more live leaves.
    ///   - after: The id to start after; `nil` for the beginning.
    ///   - limit: The maximum number of ids; unlimited by default. If there may be very many, read them page by
    ///     page.
    /// - Returns: The ids.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    /// - Complexity: O(*k*) in returned ids, which an index has.
    public func conflictedDocumentIDs(
        _ kind: ConflictKind = .branches, after: DocumentID? = nil, limit: Int = .max
    ) throws -> [DocumentID] {
        try conflictedDocumentIDs(kind, in: DocumentRange(after: after), limit: limit)
    }

    /// The number of documents in conflict of some kinds.
    ///
    /// - Complexity: O(1) in the documents; the engine keeps the counts.
    package func conflictCount(_ kinds: Set<ConflictKind>) throws -> Int {
        try engine.read { reader in
            try kinds.reduce(0) { try $0 + reader.count(.conflicted($1, DocumentRange())) }
        }
    }

    /// The ids of documents in conflict in a range; otherwise as ``conflictedDocumentIDs(_:after:limit:)``.
    package func conflictedDocumentIDs(
        _ kind: ConflictKind, in range: DocumentRange, limit: Int
    ) throws -> [DocumentID] {
        try engine.read { try $0.ids(.conflicted(kind, range), limit: max(limit, 0)) }
    }
}

extension DatabaseOptions.Reads {
    /// The leaf of a document that the app reads and edits; `nil` for an empty tree.
    func current(in tree: RevisionTree) -> RevisionNode? {
        switch self {
        case .winner: return tree.winner
        case .local:
            let leaves = Conflict.revisions(in: tree, Set(ConflictKind.allCases)).compactMap { tree[$0] }
            return leaves.first { !$0.marks.contains(.incoming) } ?? tree.winner
        }
    }
}

// MARK: - Records

extension Database {
    /// A document with its whole tree, its sequence, and the winner's content, as far as it is readable; `nil` if
    /// the document was never written or was purged. A damaged document has its ``DocumentRecord/damage``, and is
    /// reported to the app.
    package func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try engine.read { try $0.storedRecord(of: id, withContent: withContent) }.flatMap { noting([$0]).first }
    }

    /// Documents in the byte order of their ids, including deleted ones, at most `limit`. Damaged ones have their
    /// ``DocumentRecord/damage``, and are reported to the app.
    package func records(in range: DocumentRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        noting(try engine.read { try $0.records(in: range, limit: limit, withContent: withContent) })
    }

    /// The documents with ids, in that order and with their contents, until these fill a page. Documents that do not exist are left
    /// out; damaged ones as above.
    package func records(of ids: some Sequence<DocumentID>) throws -> [DocumentRecord] {
        var (records, bytes) = ([DocumentRecord](), 0)
        for id in ids {
            guard bytes < PageSize.maximumBytes else { break }
            guard let record = try storedRecord(of: id, withContent: true) else { continue }
            records.append(record)
            bytes += record.contentLength
        }
        return records
    }

    /// The id of a live document by its position in a range, from 0 and in the range's order; `nil` if there are
    /// fewer documents.
    package func liveID(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        try engine.snapshot { try $0.liveID(at: place, in: range) }
    }

    /// Documents in the order of their last changes, at most `limit`; damaged ones as above.
    package func records(
        changedIn range: SequenceRange, limit: Int, withContent: Bool
    ) throws -> [DocumentRecord] {
        noting(try engine.read { try $0.records(changedIn: range, limit: limit, withContent: withContent) })
    }

    /// The number of documents.
    package func counts() throws -> DocumentCounts { try engine.snapshot { try $0.counts() } }

    /// The number of documents in a range that are not deleted.
    package func countLive(in range: DocumentRange = DocumentRange()) throws -> Int {
        try engine.snapshot { try $0.count(.live(range)) }
    }

    /// The number of documents that were changed in a range.
    package func count(changedIn range: SequenceRange) throws -> Int {
        try engine.snapshot { try $0.count(.changes(range)) }
    }

    /// A setting by name; `nil` if it was never set.
    package func setting(_ name: String) throws -> String? { try engine.read { try $0.setting(name) } }

    /// A number that changes before and after every ``setSetting(_:to:)``. Read it before the setting, and use it
    /// as a cache key. A change inside a transaction counts when it is made, so cache only settings that are never
    /// set within a transaction.
    package var settingsEpoch: UInt64 {
        seeOthers()
        return settingsChanges.age
    }

    /// A number that changes with every commit of a design document, before its writer returns. Read it before the
    /// design documents, and use it as a cache key.
    package var designEpoch: UInt64 {
        seeOthers()
        return designChanges.age
    }

    /// The newest commit, published before its writer is notified; `nil` inside a transaction of this thread,
    /// because the transaction sees its own writes.
    ///
    /// Read it before the data, and use it as a cache key: a result from a state that includes its sequence stays
    /// valid while the newest commit is the same.
    package var newestCommit: Commit? {
        seeOthers()
        return engine.isWriting ? nil : newest.withLock { $0 }
    }

    /// Whether this thread is inside a transaction, or in memory inside a snapshot, which is read like one.
    package var isInTransaction: Bool { engine.isWriting }

    /// Whether this thread is inside a transaction that has changed documents, so that what it reads may never be
    /// committed. A database that several nodes share returns `true` in every transaction.
    package var readsUncommitted: Bool {
        guard engine.isWriting else { return false }
        // The newest commit of another node may be ahead of this transaction.
        guard capabilities.shared == nil, let sequence = try? lastSequence() else { return true }
        return sequence != newest.withLock { $0.sequence }
    }

    /// Runs an action after the transaction of this thread is committed and before its writer continues, or at once if
    /// nothing is changed. When the transaction fails, or the nested one that this is called in, the action is released
    /// at once and never runs.
    ///
    /// - Parameter action: The action. It must not use the database.
    /// - Throws: ``DatabaseError`` if the storage has undone the transaction.
    package func afterCommit(_ action: @escaping @Sendable () -> Void) throws {
        guard readsUncommitted else { return action() }
        try engine.hold { $0.afterCommit(action) }
    }

    /// Detects writes of other processes. If that fails, cached values count as outdated.
    private func seeOthers() {
        do {
            try whileOpen {}
            if let shared = capabilities.shared, !engine.isWriting { try shared.refresh() }
        } catch {
            guard capabilities.shared != nil else { return }
            settingsChanges.markChanged()
            designChanges.markPending()
            designChanges.commit()
            newest.withLock { $0.follow($0.sequence) }
        }
    }

    /// Sets or clears a setting.
    package func setSetting(_ name: String, to value: String?) throws {
        settingsChanges.step()
        defer { settingsChanges.step() }
        try engine.commit { try $0.setSetting(name, to: value) }
    }

    /// Whether the database was closed or deleted.
    package var isClosed: Bool { changeBell.hasEnded }

    /// Calls a closure once. It is called on the committing thread, as soon as something after a sequence is
    /// committed, so it must return quickly. If the database is closed or the call is cancelled, it is called with
    /// `false`.
    package func notify(after seen: UpdateSequence, _ body: @escaping @Sendable (Bool) -> Void) -> Int {
        changeBell.whenRung(after: seen.number, body)
    }

    /// The position of the newest change by this process since the database was opened, 0 before the first. Reading
    /// it does not access the storage.
    package var newestOwnChange: UpdateSequence { UpdateSequence(ownChangeBell.position) }

    /// Calls a closure like ``notify(after:_:)``, but only for changes by this process.
    package func notifyOfOwnChange(after seen: UpdateSequence, _ body: @escaping @Sendable (Bool) -> Void) -> Int {
        ownChangeBell.whenRung(after: seen.number, body)
    }

    /// Waits for a commit after a sequence; `false` after a deadline, or if the database is closed or the task is
    /// cancelled.
    package func waitForChange(
        after seen: UpdateSequence, until deadline: ContinuousClock.Instant? = nil
    ) async -> Bool {
        await changeBell.wait(after: seen.number, until: deadline)
    }

    /// Cancels a notification, by the number that its registration returned.
    package func cancelNotice(_ number: Int) { changeBell.cancel(number) }

    /// Writes a local document with a revision that the caller chooses.
    package func put(_ document: LocalDocument) throws { try engine.commit { try $0.put(document) } }
}
