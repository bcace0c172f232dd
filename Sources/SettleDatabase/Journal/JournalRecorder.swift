internal import SettleCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Writes the journal, inside a storage engine's write.
struct JournalRecorder {
    let cache: PendingCache
    let now: @Sendable () -> Int64

    /// Records an edit of a document: a local one as an operation, a peer's as an acknowledgment.
    ///
    /// A local edit that an app can't see, such as one of a losing leaf, is not recorded.
    func record(
        _ edit: DocumentEditor.Edit, from old: DocumentRecord, to record: DocumentRecord, with editor: DocumentEditor
    ) throws {
        guard edit.history == nil else { return try acknowledge(edit.revision, in: record, with: editor) }
        let (before, after) = (old.tree.winner, record.tree.winner)
        guard after?.revision == edit.revision || before?.revision == edit.parent else { return }
        let contents = (
            old: before?.isDeleted == false ? old.content : nil, new: after?.isDeleted == false ? record.content : nil
        )
        guard contents.old != nil || contents.new != nil else { return }
        // Attribute clocks are removed when the entry is read.
        let keepsNew = after?.revision == edit.revision
        let keepsOld =
            before?.revision == edit.parent
            && edit.parent.flatMap { record.tree[$0] }.map { $0.bodyToken != BodyToken.none } ?? false
        func content(_ content: RevisionContent?, isKept: Bool) -> StoredJournalEntry.Content {
            guard let content else { return .none }
            return isKept ? .kept : .given(content.withoutClocks)
        }
        let entry = StoredJournalEntry(
            number: try cache.nextNumber(for: record.id), documentID: record.id, revision: edit.revision,
            old: content(contents.old, isKept: keepsOld), new: content(contents.new, isKept: keepsNew), time: now())
        try editor.writer.put(.journal(entry))
        let (operation, id) = (PendingCache.Operation(entry), record.id)
        editor.writer.afterCommit { [cache] in cache.append(operation, of: id) }
    }

    /// The content that an app sees; `nil` for a document that is deleted or never existed.
    private static func seen(_ record: DocumentRecord) -> RevisionContent? {
        record.tree.winner?.isDeleted == false ? record.content?.withoutClocks : nil
    }

    /// Removes the operations that led to a revision that a peer has acknowledged.
    ///
    /// If an operation was undone while it was being sent, the peer has it, and the undo becomes an operation:
    ///
    ///     2-b sent ── undone as 3-a ── 2-b acknowledged       UPDATE b a
    func acknowledge(_ revision: RevisionID, in record: DocumentRecord, with editor: DocumentEditor) throws {
        let entries = try cache.stored(of: record.id, in: editor.writer)
        let acknowledged = entries.indices.filter { index in
            Self.isPart(index, of: revision, entries, in: record.tree)
        }.map { entries[$0] }
        for entry in acknowledged { try editor.writer.remove(.journal(entry.number)) }
        var left = entries.filter { entry in !acknowledged.contains(entry) }
        let isChanged = try catchUp(&left, with: revision, in: record, with: editor)
        if isChanged || !acknowledged.isEmpty { cache.set(record.id, to: left, after: editor.writer) }
    }

    /// Whether an entry's revision is the given one or an ancestor of it. An unknown revision was stemmed; it is an
    /// ancestor of the next known one, and only on that one's branch.
    private static func isPart(
        _ index: Int, of other: RevisionID, _ entries: [StoredJournalEntry], in tree: RevisionTree
    ) -> Bool {
        let revision = entries[index].revision
        if tree.contains(revision) { return tree.isAncestor(revision, of: other) }
        let later = entries[index...].first { tree.contains($0.revision) }?.revision ?? tree.winner?.revision
        guard let later, revision.generation <= other.generation else { return false }
        return tree.isAncestor(other, of: later) || tree.isAncestor(later, of: other)
    }

    /// Makes the entries start from the content that a peer has acknowledged, if an operation was undone since. It
    /// adjusts the first entry, or adds one if none is left.
    ///
    /// - Returns: Whether it changed anything.
    private func catchUp(
        _ entries: inout [StoredJournalEntry], with revision: RevisionID, in old: DocumentRecord,
        with editor: DocumentEditor
    ) throws -> Bool {
        let last = entries.first?.revision ?? old.tree.winner?.revision
        // If several peers have acknowledged revisions, the newest counts.
        guard let last, last != revision,
            old.tree.history(of: last)?.revisions.first(where: { old.tree[$0]?.isShared == true }) == revision,
            let record = try editor.writer.record(of: old.id, withContent: true),
            let content = try editor.content(of: revision, in: record)
        else { return false }
        let base = record.tree[revision]?.isDeleted == true ? nil : content.withoutClocks
        guard let stored = entries.first, var first = try editor.writer.resolved([stored]).first else {
            let now = Self.seen(record)
            guard !base.isSame(as: now) else { return false }
            let entry = StoredJournalEntry(
                JournalEntry(
                    number: try cache.nextNumber(for: record.id), documentID: record.id, revision: last, old: base,
                    new: now,
                    time: Date(milliseconds: self.now())))
            try editor.writer.put(.journal(entry))
            entries = [entry]
            return true
        }
        guard !base.isSame(as: first.old) else { return false }
        if base == nil, first.new == nil {
            // The entry deletes a document that is already deleted at the peer.
            entries.removeFirst()
            try editor.writer.remove(.journal(first.number))
            return true
        }
        first.old = base
        entries[0] = StoredJournalEntry(first)
        try editor.writer.put(.journal(entries[0]))
        return true
    }

    /// Replaces a document's operations with one entry after a conflict was settled. The entry has their remaining
    /// difference to the peers' leaf; if that leaf stayed, there is no entry.
    func settle(_ record: DocumentRecord, from leaves: [RevisionNode], with editor: DocumentEditor) throws {
        let entries = try cache.stored(of: record.id, in: editor.writer)
        guard let last = entries.last, let winner = record.tree.winner,
            let theirs = leaves.first(where: { $0.isShared && !$0.marks.contains(.closing) })
        else { return }
        for entry in entries { try editor.writer.remove(.journal(entry.number)) }
        let entry = JournalEntry(
            number: last.number, documentID: record.id, revision: winner.revision,
            old: theirs.isDeleted ? nil : try editor.content(of: theirs.revision, in: record)?.withoutClocks,
            new: Self.seen(record), time: Date(milliseconds: last.time))
        let left = entry.old.isSame(as: entry.new) ? [] : [StoredJournalEntry(entry)]
        for entry in left { try editor.writer.put(.journal(entry)) }
        cache.set(record.id, to: left, after: editor.writer)
    }

    /// Removes the operations whose revisions were purged.
    func purge(_ revisions: [RevisionID]?, of id: DocumentID, with writer: any StorageWriter) throws {
        let entries = try cache.stored(of: id, in: writer)
        let doomed = entries.filter { revisions?.contains($0.revision) ?? true }
        guard !doomed.isEmpty else { return }
        for entry in doomed { try writer.remove(.journal(entry.number)) }
        cache.set(id, to: entries.filter { !doomed.contains($0) }, after: writer)
    }
}
