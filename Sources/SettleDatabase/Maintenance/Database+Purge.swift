public import RevisionTree

extension Database {
    /// Forgets a document and all its revisions, as if it had never been here. Nothing replicates: a peer that has it may
    /// bring it back. To delete a document everywhere use ``delete(_:keeping:onConflict:)``.
    ///
    /// - Returns: The leaves that were forgotten; none for an unknown document.
    @discardableResult
    public func purge(_ id: DocumentID) throws -> [RevisionID] {
        try purge(id) { $0.leaves.map(\.revision) }
    }

    /// Forgets some leaves of a document, and the ancestors that lead to no other leaf.
    ///
    /// Revisions that are no leaves, or not known, are left alone (COUCHDB-FACTS 36).
    ///
    /// - Returns: The leaves that were forgotten.
    @discardableResult
    public func purge(_ id: DocumentID, revisions: [RevisionID]) throws -> [RevisionID] {
        try purge(id) { tree in revisions.filter { tree[$0]?.isLeaf == true } }
    }

    private func purge(_ id: DocumentID, _ choose: (RevisionTree) -> [RevisionID]) throws -> [RevisionID] {
        try engine.write { try purge(id, choose, journalRecorder, with: $0) }
    }

    /// Forgets the leaves of a document but one, and leaves the journal as it is.
    func purgeLeaves(of id: DocumentID, but kept: RevisionID?, with writer: any StorageWriter) throws {
        _ = try purge(id, { $0.leaves.map(\.revision).filter { $0 != kept } }, nil, with: writer)
    }

    private func purge(
        _ id: DocumentID, _ choose: (RevisionTree) -> [RevisionID], _ journal: JournalRecorder?,
        with writer: any StorageWriter
    ) throws -> [RevisionID] {
        guard var record = try writer.record(of: id, withContent: true) else { return [] }
        let doomed = choose(record.tree)
        guard !doomed.isEmpty else { return [] }
        if id.isDesign { designChanges.note() }
        let before = record
        let oldWinner = record.tree.winner?.revision
        let removed = record.tree.purge(doomed)
        let isAll = record.tree.isEmpty
        try journal?.purge(isAll ? nil : removed.map(\.revision), of: id, with: writer)
        try pendingCache?.keepContents(of: removed, in: before, with: writer)
        for node in removed { try writer.removeContent(at: node.bodyToken) }
        guard let winner = record.tree.winner else {
            try writer.remove(record)
            try writer.setExpiration(nil, of: id)
            try PurgeLog.note(id, with: writer)
            return doomed
        }
        if winner.revision != oldWinner {
            record.content = try writer.content(at: winner.bodyToken)
            try writer.removeContent(at: winner.bodyToken)
            record.tree.setBodyToken(BodyToken.record, of: winner.revision)
        }
        try writer.put(record)
        return doomed
    }
}
