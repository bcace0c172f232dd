internal import RevisionTree

extension DocumentEditor {
    /// Writes what settling a conflict takes.
    func write(_ plan: SettlementPlan, of id: DocumentID) throws {
        for write in plan.writes { try self.write(write, of: id) }
    }

    /// Closes the deletions that a document has besides the tombstone it was revived on. Whoever revived the document has
    /// seen it deleted; without this, an older deletion would stand against the new edit on peers that know only parts of
    /// the tree, or together with an edit that was made apart.
    ///
    ///     1-a ─┬─ 2-t deleted ── 3-deleted  $closed 4-new
    ///          └─ 2-y ── 3-deleted ── 4-new
    func closeDeletions(of revived: Document) throws {
        guard let survivor = revived.revision,
            let tree = try writer.record(of: revived.id, withContent: true)?.tree
        else { return }
        let open = tree.leaves.filter { $0.isDeleted && !$0.marks.contains(.closing) }
        guard !open.isEmpty else { return }
        let body = try ClosingTombstone(survivor: survivor).body()
        for node in open {
            let revision = hasher.revision(of: body, parent: node.revision, isDeleted: true, attachments: [])
            try write(
                SettlementPlan.Write(
                    revision: revision, parent: node.revision, isDeleted: true, body: body, attachments: []),
                of: revived.id)
        }
    }

    private func write(_ write: SettlementPlan.Write, of id: DocumentID) throws {
        let record = try writer.record(of: id, withContent: true)
        let document = Document(id: id, body: write.body, attachments: write.attachments)
        _ = try edit(document, body: write.body, on: write.parent, isDeleted: write.isDeleted, in: record)
    }
}
