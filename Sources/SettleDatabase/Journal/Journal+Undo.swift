internal import SettleCore

extension Journal {
    /// Undoes the newest operations, the last one first.
    ///
    /// Each document gets its content from before the operation, as a new revision; for a create, a tombstone. The
    /// operation is removed from the journal. The server is not contacted (SEMANTICS 193). Changes by other writers
    /// in the same document stay: a three-way merge removes only the operation's own changes. All of this happens
    /// in one transaction.
    ///
    /// If the operation was being sent, a peer may acknowledge it after it was undone. The undo then becomes an
    /// operation itself, and will be sent.
    ///
    /// - Parameter count: The number of operations.
    /// - Returns: The undone operations, newest first; fewer than `count` if the journal has fewer.
    /// - Throws: ``DatabaseError`` with code `conflict` if other writers have changed the same members since,
    ///   `refused` by a validation, or if the storage fails. Nothing is then undone.
    @discardableResult
    public func undo(_ count: Int = 1) throws -> [JournalEntry] {
        try database.edit { editor in
            var undone: [JournalEntry] = []
            while undone.count < count {
                let page = try editor.writer.resolved(
                    editor.writer.newestJournalEntries(limit: min(100, count - undone.count)))
                guard !page.isEmpty else { break }
                for entry in page { try revert(entry, with: editor) }
                undone += page
            }
            try updateCache(of: undone, with: editor.writer)
            return undone
        }
    }

    /// Undoes all operations on one document, the last one first; see ``undo(_:)-(Int)``.
    @discardableResult
    public func undo(_ id: some DocumentIDConvertible) throws -> [JournalEntry] {
        let id = try id.ofDocument()
        return try database.edit { editor in
            let entries = try cache.entries(of: id, in: editor.writer)
            for entry in entries.reversed() { try revert(entry, with: editor) }
            try updateCache(of: entries, with: editor.writer)
            return entries.reversed()
        }
    }

    /// Undoes all operations that no peer has acknowledged; see ``undo(_:)-(Int)``.
    @discardableResult
    public func undoAll() throws -> [JournalEntry] { try undo(.max) }

    private func revert(_ entry: JournalEntry, with editor: DocumentEditor) throws {
        let id = entry.documentID
        let record = try editor.writer.record(of: id, withContent: true)
        let current = record?.tree.winner?.isDeleted == false ? record?.content?.withoutClocks : nil
        try write(Self.content(before: entry, now: current), of: id, instead: current, with: editor)
        try editor.writer.remove(.journal(entry.number))
    }

    /// Updates the cache after entries were removed.
    private func updateCache(of removed: [JournalEntry], with writer: any StorageWriter) throws {
        for id in Set(removed.map(\.documentID)) {
            cache.set(id, to: try cache.stored(of: id, in: writer), after: writer)
        }
    }

    /// Writes a document's content, without a journal entry.
    func write(
        _ wanted: RevisionContent?, of id: DocumentID, instead current: RevisionContent?, with editor: DocumentEditor
    ) throws {
        guard !wanted.isSame(as: current) else { return }
        let silent = editor.withoutJournal
        guard let wanted else {
            _ = try Database.delete(
                Document(id: id), TombstoneContent(keeping: KeptAttributes(database.attributesKeptOnDelete())),
                onConflict: .lastWriteWins, with: silent)
            return
        }
        let document = Document(id: id, body: wanted.body, attachments: wanted.attachments)
        _ = try Database.save(document, wanted.body, onConflict: .lastWriteWins, with: silent)
    }

    /// Removes an operation's change from a document's current content.
    private static func content(before entry: JournalEntry, now: RevisionContent?) throws -> RevisionContent? {
        if entry.new.isSame(as: now) { return entry.old }
        if entry.old.isSame(as: now) { return now }
        guard let old = entry.old, let new = entry.new, let now,
            let base = new.body.json.object, let without = old.body.json.object, let current = now.body.json.object
        else { throw changed(entry, "it was deleted or created again") }
        let outcome = ThreeWayMerge.merge(
            base: base, versions: [current, without], rules: MergeRules(onClash: .leave))
        guard let merged = outcome.merged else { throw changed(entry, outcome.left.joined(separator: ", ")) }
        let kept = now.with(attachmentsOf: new)
        let attachments = kept.isSame(as: now) ? old.attachments : now.attachments
        guard kept.isSame(as: now) || old.with(attachmentsOf: new).isSame(as: old) else {
            throw changed(entry, "_attachments")
        }
        return RevisionContent(body: try DocumentBody(.object(merged)), attachments: attachments)
    }

    private static func changed(_ entry: JournalEntry, _ what: String) -> DatabaseError {
        DatabaseError(
            .conflict,
            """
            the \(entry.operation.rawValue) of \"\(entry.documentID)\" can't be undone, for it was changed by others \
            since (\(what)); edit the document instead
            """)
    }
}

extension RevisionContent {
    /// The same members with the attachments of another content.
    fileprivate func with(attachmentsOf other: RevisionContent) -> RevisionContent {
        RevisionContent(body: body, attachments: other.attachments)
    }
}
