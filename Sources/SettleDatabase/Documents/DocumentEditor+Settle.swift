internal import SettleCore

extension DocumentEditor {
    /// Writes the revisions that settle a conflict: the document's record is written once, with all of them.
    func write(_ plan: SettlementPlan, of id: DocumentID) throws {
        guard !plan.writes.isEmpty, let old = try writer.record(of: id, withContent: true) else { return }
        try withoutJournal.carryOut(plan, in: old)
        guard let journal, let new = try writer.record(of: id, withContent: true) else { return }
        try journal.settle(new, from: old.tree.leaves, with: self)
    }

    private func carryOut(_ plan: SettlementPlan, in old: DocumentRecord) throws {
        var record = old
        let id = record.id
        if plan.writes.contains(where: { record.tree.contains($0.revision) }) {
            // A peer has made some of the revisions before, on a parent that was unknown here until now.
            for write in plan.writes { try self.write(write, of: id) }
            return
        }
        for write in plan.writes {
            let before = write.attachments.isEmpty ? nil : try content(of: write.parent, in: record)
            let attachments = try settled(
                write.attachments, of: id, before: before, generation: write.revision.generation)
            let edit = Edit(
                revision: write.revision, parent: write.parent, isDeleted: write.isDeleted,
                content: RevisionContent(body: write.body, attachments: attachments), origin: .local)
            try apply(edit, to: &record)
        }
        if record.id.isDesign { designChanges.note() }
        try writer.put(record)
    }

    /// Closes the deletions that a document has besides the tombstone it was revived on. A writer that revives the
    /// document has seen it deleted; without this, another deletion would contradict the new edit on peers that know
    /// only parts of the tree. If a validation refuses to close a deletion, that stays open. The write check is not
    /// called for these tombstones, because this function creates their bodies.
    ///
    ///     1-a ─┬─ 2-t deleted ── 3-deleted  $closed 4-new
    ///          └─ 2-y ── 3-deleted  $closed 2-t  ── 4-new
    func closeDeletions(of revived: Document) throws {
        guard let survivor = revived.revision,
            let tree = try writer.record(of: revived.id, withContent: true)?.tree
        else { return }
        // A tombstone of the highest generation can have no child, and stays open.
        let open = tree.leaves.filter {
            $0.isDeleted && !$0.marks.contains(.closing) && $0.revision.generation < RevisionID.maximumGeneration
        }
        guard !open.isEmpty else { return }
        let body = try ClosingTombstone(survivor: survivor).body()
        for node in open {
            let revision = hasher.revision(of: body, parent: node.revision, isDeleted: true, attachments: [])
            let closing = SettlementPlan.Write(
                revision: revision, parent: node.revision, isDeleted: true, body: body, attachments: [])
            do { try write(closing, of: revived.id) } catch let error as DatabaseError where error.code == .refused {}
        }
    }

    private func write(_ write: SettlementPlan.Write, of id: DocumentID) throws {
        let record = try writer.storedRecord(of: id, withContent: true)?.checkedTree()
        var editor = withoutClocks
        editor.question = nil
        let edit = DocumentEdit(
            id: id, parent: write.parent, isDeleted: write.isDeleted, body: write.body, attachments: write.attachments)
        _ = try editor.edit(edit, in: record)
    }
}
