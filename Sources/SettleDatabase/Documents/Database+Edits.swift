package import SettleCore

extension Database {
    /// Writes edits in one transaction; one that is refused does not stop the others.
    ///
    /// The rules are CouchDB's: an edit is made on a leaf. If all leaves of a document are tombstones, none can be
    /// edited, but an edit without a revision revives the document on the winning one. Sequences are assigned in the
    /// order of ids.
    ///
    /// - Parameters:
    ///   - edits: What to write.
    ///   - check: Called for each edit before it is stored.
    /// - Returns: For each edit, in the given order, the new revision or why there is none.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails, ``WriteCheck/IsOld``; nothing is written then.
    package func write(
        _ edits: [DocumentEdit], asking check: WriteCheck? = nil
    ) throws -> [Result<RevisionID, DatabaseError>] {
        let order = edits.indices.sorted { (edits[$0].id, $0) < (edits[$1].id, $1) }
        return try commit { editor in
            try editor.begin(check)
            try editor.writer.prepare(order.map { edits[$0].id }, withContent: true)
            var outcomes: [Int: Result<RevisionID, DatabaseError>] = [:]
            for index in order {
                do {
                    outcomes[index] = .success(try Self.write(edits[index], with: editor.asking(check, at: index)))
                } catch let error
                    as DatabaseError where error.code.isOfOneDocument
                { outcomes[index] = .failure(error) }
            }
            return edits.indices.compactMap { outcomes[$0] }
        }
    }

    private static func write(_ given: DocumentEdit, with editor: DocumentEditor) throws -> RevisionID {
        var edit = given
        if edit.parent == nil, !edit.isDeleted, !editor.asksAnything {
            // Most new documents are new indeed, so a look for an old one is saved; the write tells.
            do { return try editor.edit(edit, in: nil).revision } catch let error
                as DatabaseError where error.code == .conflict
            {}
        }
        let record = try editor.writer.storedRecord(of: edit.id, withContent: true)?.checkedTree()
        edit.parent = try parent(of: edit, in: record)
        return try editor.edit(edit, in: record).revision
    }

    private static func parent(of edit: DocumentEdit, in record: DocumentRecord?) throws -> RevisionID? {
        guard let record, let winner = record.tree.winner else {
            guard edit.parent == nil else { throw DatabaseError(.conflict, "\"\(edit.id)\" is not in the database") }
            return nil
        }
        if winner.isDeleted {
            if edit.parent == nil, !edit.isDeleted { return winner.revision }
        } else if let parent = edit.parent, record.tree[parent]?.isLeaf == true {
            return parent
        }
        let given = edit.parent.map { "\($0) is given" } ?? "no revision is given"
        throw DatabaseError(.conflict, "\(given), but \(winner.revision) of \"\(edit.id)\" is stored")
    }
}
