internal import RevisionTree

/// Keeps the journal, inside a storage engine's write.
struct JournalRecorder {
    let cache: PendingCache
    let now: @Sendable () -> Int64

    /// Notes what an edit made of a document: a local one as an operation, one of a peer as an acknowledgement.
    ///
    /// A local edit that an app does not see, as of a leaf that loses before and after, is none.
    func note(
        _ edit: DocumentEditor.Edit, from old: DocumentRecord, to record: DocumentRecord, with editor: DocumentEditor
    ) throws {
        guard edit.history == nil else { return try acknowledge(edit.revision, in: record, with: editor) }
        let (before, after) = (old.tree.winner, record.tree.winner)
        guard after?.revision == edit.revision || before?.revision == edit.parent else { return }
        let entry = JournalEntry(
            documentID: record.id, revision: edit.revision, old: Self.seen(old), new: Self.seen(record), time: now())
        guard entry.old != nil || entry.new != nil else { return }
        try append(entry, with: editor)
    }

    /// The content an app sees; `nil` of a document that is deleted or was never there.
    private static func seen(_ record: DocumentRecord) -> RevisionContent? {
        record.tree.winner?.isDeleted == false ? record.content?.withoutClocks : nil
    }

    private func append(_ entry: JournalEntry, with editor: DocumentEditor) throws {
        var entry = entry
        entry.number = cache.takeNumber()
        try editor.writer.putJournalEntry(entry)
        editor.writer.afterCommit { [cache, entry] in cache.append(entry) }
    }

    /// Takes off what a peer has acknowledged by a revision: the operations that led to it.
    ///
    /// What was undone while it was on its way is at the peer now, and the undoing becomes an operation:
    ///
    ///     2-b sent ── undone as 3-a ── 2-b acknowledged       UPDATE b a
    func acknowledge(_ revision: RevisionID, in record: DocumentRecord, with editor: DocumentEditor) throws {
        let entries = try cache.entries(of: record.id, in: editor.writer)
        var kept = entries.filter { !Self.isPart($0.revision, of: revision, in: record.tree) }
        for entry in entries where !kept.contains(where: { $0.number == entry.number }) {
            try editor.writer.removeJournalEntry(entry.number)
        }
        try catchUp(&kept, with: revision, in: record, with: editor)
        guard kept != entries else { return }
        editor.writer.afterCommit { [cache, kept] in cache.set(record.id, to: kept) }
    }

    /// Whether a revision is another or was made before it; one that is not known any more was stemmed.
    private static func isPart(_ revision: RevisionID, of other: RevisionID, in tree: RevisionTree) -> Bool {
        tree.contains(revision)
            ? tree.isAncestor(revision, of: other) : revision.generation <= other.generation && tree.contains(other)
    }

    /// Sees that the entries begin with the content a peer has acknowledged, where something was undone since: the first
    /// one as it has to be then, or a new one where none is left.
    private func catchUp(
        _ entries: inout [JournalEntry], with revision: RevisionID, in old: DocumentRecord, with editor: DocumentEditor
    ) throws {
        let last = entries.first?.revision ?? old.tree.winner?.revision
        // Of what several peers have acknowledged the newest counts.
        guard let last, last != revision,
            old.tree.history(of: last)?.revisions.first(where: { old.tree[$0]?.isShared == true }) == revision,
            let record = try editor.writer.record(of: old.id, withContent: true),
            let content = try editor.content(of: revision, in: record)
        else { return }
        let base = record.tree[revision]?.isDeleted == true ? nil : content.withoutClocks
        guard let first = entries.first else {
            let now = Self.seen(record)
            guard !base.isSame(as: now) else { return }
            var entry = JournalEntry(documentID: record.id, revision: last, old: base, new: now, time: self.now())
            entry.number = cache.takeNumber()
            try editor.writer.putJournalEntry(entry)
            entries = [entry]
            return
        }
        guard !base.isSame(as: first.old) else { return }
        if base == nil, first.new == nil {
            // A deletion of what is deleted there.
            entries.removeFirst()
            return try editor.writer.removeJournalEntry(first.number)
        }
        entries[0].old = base
        try editor.writer.putJournalEntry(entries[0])
    }

    /// Makes one entry of a document's operations after a conflict was settled: what is left of them on top of the leaf
    /// that peers have; none where that is what stayed.
    func settle(_ record: DocumentRecord, from leaves: [RevisionNode], with editor: DocumentEditor) throws {
        let entries = try cache.entries(of: record.id, in: editor.writer)
        guard var entry = entries.last, let winner = record.tree.winner,
            let theirs = leaves.first(where: { $0.isShared && !$0.marks.contains(.closing) })
        else { return }
        for entry in entries { try editor.writer.removeJournalEntry(entry.number) }
        entry.old = theirs.isDeleted ? nil : try editor.content(of: theirs.revision, in: record)?.withoutClocks
        entry.new = Self.seen(record)
        entry.revision = winner.revision
        let isLeft = !entry.old.isSame(as: entry.new)
        if isLeft { try editor.writer.putJournalEntry(entry) }
        editor.writer.afterCommit { [cache, entry] in cache.set(entry.documentID, to: isLeft ? [entry] : []) }
    }

    /// Takes off the operations whose revisions were purged.
    func purge(_ revisions: [RevisionID]?, of id: DocumentID, with writer: any StorageWriter) throws {
        let entries = try cache.entries(of: id, in: writer)
        let kept = revisions.map { purged in entries.filter { !purged.contains($0.revision) } } ?? []
        guard kept.count < entries.count else { return }
        for entry in entries where !kept.contains(entry) { try writer.removeJournalEntry(entry.number) }
        writer.afterCommit { [cache] in cache.set(id, to: kept) }
    }
}
