package import SettleCore

extension Database {
    /// Saves a document as an edit of the revision it was read at, and returns it with its new revision.
    ///
    /// A document without a revision is created; if a deleted one exists, it is revived, as an edit of the winning
    /// tombstone (SEMANTICS 88). Any leaf can be edited, also a leaf in conflict. Saving the same content again
    /// creates a new revision, as in CouchDB.
    ///
    /// `conflict` decides between a save and a deletion made since the read: the save wins with
    /// ``SaveConflict/lastWriteWins``, the deletion with ``SaveConflict/deletesWin``. Replication policies are not
    /// used (SEMANTICS 13, 50).
    ///
    /// - Parameters:
    ///   - document: The document to save.
    ///   - conflict: The action if the document was changed since it was read. By default nothing is written and
    ///     the call throws, so no edit is lost.
    /// - Returns: The document as stored.
    /// - Throws: ``DatabaseError`` with code `conflict`; `notFound` if the document was purged since it was read,
    ///   unless the last write wins, and for a branch on an unknown revision; `refused` by a validation; `invalid`,
    ///   `documentTooLarge`, `attachmentMissing`; `diskFull` or `inputOutput`. Nothing is then written.
    @discardableResult
    public func save(_ document: Document, onConflict conflict: SaveConflict = .fail) throws -> Document {
        switch conflict {
        case .fail, .lastWriteWins, .deletesWin, .branch:
            let body = try document.body()
            return try edit { try Self.save(document, body, onConflict: conflict, with: $0) }
        case .merge(let handler):
            return try merging(document, handler) { new in
                let body = try new.body()
                return try edit { try Self.save(new, body, onConflict: .fail, with: $0) }
            }
        }
    }

    /// Saves many documents in one transaction, or one by one if a handler merges. A document that can't be saved
    /// does not stop the rest.
    ///
    /// - Returns: For each document, in order, the stored document or the error.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails; nothing is then written.
    @discardableResult
    public func saveAll(
        _ documents: [Document], onConflict conflict: SaveConflict = .fail
    ) throws -> [Result<Document, any Error>] {
        try saveAll(documents, onConflict: conflict) {}
    }

    /// Saves many documents off the caller's thread, until the task is cancelled.
    ///
    /// It saves as ``saveAll(_:onConflict:)-([Document],_)`` does. If the task is cancelled, nothing is saved; with
    /// a handler that merges, documents that were saved before stay saved.
    ///
    /// - Returns: For each document, in order, the stored document or the error.
    /// - Throws: `CancellationError`, or ``DatabaseError`` if the transaction as a whole fails; nothing is then
    ///   written.
    @discardableResult
    public func saveAll(
        _ documents: [Document], onConflict conflict: SaveConflict = .fail
    ) async throws -> [Result<Document, any Error>] {
        try await perform { database, cancellation in
            try database.saveAll(documents, onConflict: conflict) { try cancellation.check() }
        }
    }

    private func saveAll(
        _ documents: [Document], onConflict conflict: SaveConflict, checking: () throws -> Void
    ) throws -> [Result<Document, any Error>] {
        if case .merge = conflict {
            return try documents.map { document in
                try checking()
                return Result { try save(document, onConflict: conflict) }
            }
        }
        let bodies = documents.map { document in Result { try document.body() } }
        let forecast = forecast(
            zip(documents, bodies).map { document, body in
                DocumentEdit(
                    id: document.id, parent: document.revision, body: (try? body.get()) ?? .empty,
                    attachments: document.attachments)
            })
        defer { forecast?.end() }
        return try edit { editor in
            try editor.prepare(documents.map(\.id), withContent: true)
            return try documents.indices.map { index in
                try checking()
                return try Self.outcome {
                    try Self.save(
                        documents[index], bodies[index].get(), onConflict: conflict, forecast: forecast?.place(index),
                        with: editor)
                }
            }
        }
    }

    /// Starts to compute the revision ids of a batch that is about to be written; `nil` if that does not help.
    private func forecast(_ edits: @autoclosure () -> [DocumentEdit]) -> RevisionForecast? {
        // Stamps change the bodies.
        clocks.mayStamp ? nil : RevisionForecast(edits())
    }

    /// The result for one document of a batch. An error of the storage is thrown, and ends the whole batch.
    static func outcome<Stored>(_ write: () throws -> Stored) throws -> Result<Stored, any Error> {
        do { return .success(try write()) } catch let error as DatabaseError where !error.code.isOfOneDocument {
            throw error
        } catch { return .failure(error) }
    }

    /// Saves a document with an editor. With `revives`, a document without a revision becomes an edit of the
    /// deleted document, if there is one.
    static func save(
        _ document: Document, _ body: DocumentBody, onConflict conflict: SaveConflict, revives: Bool = true,
        forecast: RevisionForecast.Place? = nil, with editor: DocumentEditor
    ) throws -> Document {
        guard !document.id.isLocal else {
            throw DatabaseError(.invalid, "\"\(document.id)\" is local; use saveLocalDocument(_:body:)")
        }
        var edit = DocumentEdit(id: document.id, parent: nil, body: body, attachments: document.attachments)
        edit.forecast = forecast
        if document.revision == nil, editor.validations.isEmpty {
            // Most new documents do not exist yet. So the lookup is skipped; the write fails if the document
            // exists.
            do { return try editor.document(by: edit, in: nil) } catch let error
                as DatabaseError where error.code == .conflict
            {}
        }
        let record = try editor.writer.storedRecord(of: document.id, withContent: true)?.checkedTree()
        edit.parent = try parent(of: document, in: record, conflict, editor.options.reads, revives: revives)
        return editor.document(edit.id, try reviving(edit, in: record, with: editor))
    }

    /// Stores an edit, and closes the deletions that it revives the document from.
    private static func reviving(
        _ edit: DocumentEdit, in record: DocumentRecord?, with editor: DocumentEditor
    ) throws -> DocumentEditor.Edit {
        let made = try editor.edit(edit, in: record)
        // A branch beside a deletion leaves that in dispute, and a deletion on a tombstone revives nothing.
        if !edit.isDeleted, let record, record.tree.isDeleted,
            edit.parent.flatMap({ record.tree[$0]?.isDeleted }) == true
        {
            try editor.closeDeletions(of: edit.id, for: made.revision)
        }
        return made
    }

    /// The revision that an edit is based on.
    private static func parent(
        of document: Document, in record: DocumentRecord?, _ conflict: SaveConflict, _ reads: DatabaseOptions.Reads,
        revives: Bool
    ) throws -> RevisionID? {
        guard let record, let current = reads.current(in: record.tree) else {
            if document.revision == nil || conflict.isLastWriteWins { return nil }
            throw DatabaseError(.notFound, "\"\(document.id)\" is no longer in the database; it was purged")
        }
        switch conflict {
        case .lastWriteWins: return current.revision
        case .deletesWin where document.revision == nil || !current.isDeleted: return current.revision
        case .branch where document.revision != nil || !current.isDeleted:
            return try branchPoint(document.revision, of: document.id, in: record)
        case .fail, .deletesWin, .branch, .merge: break
        }
        if let revision = document.revision {
            if record.tree[revision]?.isLeaf == true { return revision }
        } else if current.isDeleted, revives {
            return current.revision
        }
        throw Self.conflict(document, current)
    }

    /// The revision that a branch starts from; `nil` for a first revision.
    static func branchPoint(
        _ revision: RevisionID?, of id: DocumentID, in record: DocumentRecord
    ) throws -> RevisionID? {
        guard let revision else { return nil }
        if record.tree.contains(revision) { return revision }
        throw DatabaseError(
            .notFound,
            """
            there is no revision \(revision) of \"\(id)\" to begin a branch on: it was forgotten, or never here; \
            read the document again
            """)
    }

    static func conflict(_ document: Document, _ current: RevisionNode) -> DatabaseError {
        let base = document.revision.map { "was read at \($0)" } ?? "is new"
        return DatabaseError(
            .conflict,
            """
            \"\(document.id)\" \(base), but \(current.revision) is stored\(current.isDeleted ? " as deleted" : ""); read \
            it again, merge, and retry
            """)
    }

    /// Writes until it succeeds. It calls a handler to merge after each write of another writer in between
    /// (SEMANTICS 52–57).
    func merging<Result>(
        _ document: Document, _ handler: (inout Document, Document?) throws -> Bool,
        write: (Document) throws -> Result
    ) throws -> Result {
        var new = document
        while true {
            do { return try write(new) } catch let error as DatabaseError where error.code == .conflict {
                guard let current = try currentInConflict(document.id) else {
                    throw DatabaseError(.notFound, "\"\(document.id)\" was purged meanwhile")
                }
                let isMerged: Bool
                do { isMerged = try handler(&new, current.isDeleted ? nil : current) } catch let cause {
                    warn("the conflict handler of \"\(document.id)\" threw: \(cause)", in: .conflicts)
                    throw DatabaseError(.conflict, "the conflict handler of \"\(document.id)\" threw", cause: cause)
                }
                guard isMerged, new.id == document.id else { throw error }
                new.revision = current.revision
            }
        }
    }

    /// The state of a document that conflicts with a failed write.
    ///
    /// It may be the state of another writer of the same commit, which readers don't see before that commit. A snapshot
    /// of the caller never shows it. So it is read in a write.
    func currentInConflict(_ id: DocumentID) throws -> Document? { try engine.hold { _ in try current(id) } }
}

extension SaveConflict {
    var isMerge: Bool { if case .merge = self { true } else { false } }
    var isLastWriteWins: Bool { if case .lastWriteWins = self { true } else { false } }
    var isDeletesWin: Bool { if case .deletesWin = self { true } else { false } }
    var isBranch: Bool { if case .branch = self { true } else { false } }
}

extension DatabaseErrorCode {
    /// Whether an error concerns one document, so that the rest of a batch may still be written.
    package var isOfOneDocument: Bool {
        [
            .conflict, .notFound, .invalid, .documentTooLarge, .refused, .attachmentMissing, .resolverFailed, .timedOut,
            .foreignDocument, .damagedDocument,
        ].contains(self)
    }
}

// MARK: - Edits

extension Database {
    /// Writes edits in one transaction. An edit that is refused does not stop the rest.
    ///
    /// The rules are CouchDB's: an edit is made on a leaf. If all leaves of a document are tombstones, they can't
    /// be edited, but an edit without a revision revives the document on the winning tombstone. An edit that may
    /// begin a branch can be made on any known revision. Sequences are assigned in the order of ids.
    ///
    /// - Parameters:
    ///   - edits: The edits.
    ///   - check: Called for each edit before it is stored.
    /// - Returns: For each edit, in the given order, the new revision or the error.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails, ``WriteCheck/IsOld``; nothing is then
    ///   written.
    package func write(
        _ edits: [DocumentEdit], asking check: WriteCheck? = nil
    ) throws -> [Result<RevisionID, DatabaseError>] {
        let order = edits.indices.sorted { (edits[$0].id, $0) < (edits[$1].id, $1) }
        let forecast = forecast(order.map { edits[$0] })
        defer { forecast?.end() }
        return try commit { editor in
            try editor.begin(check)
            try editor.prepare(order.map { edits[$0].id }, withContent: true)
            var outcomes: [Int: Result<RevisionID, DatabaseError>] = [:]
            for (place, index) in order.enumerated() {
                var edit = edits[index]
                edit.forecast = forecast?.place(place)
                do {
                    outcomes[index] = .success(try Self.write(edit, with: editor.asking(check, at: index)))
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
            // Most new documents do not exist yet. So the lookup is skipped; the write fails if the document
            // exists.
            do { return try editor.edit(edit, in: nil).revision } catch let error
                as DatabaseError where error.code == .conflict
            {}
        }
        let record = try editor.writer.storedRecord(of: edit.id, withContent: true)?.checkedTree()
        guard edit.branches, edit.parent != nil, let record else {
            edit.parent = try parent(of: edit, in: record)
            return try editor.edit(edit, in: record).revision
        }
        edit.parent = try branchPoint(edit.parent, of: edit.id, in: record)
        return try reviving(edit, in: record, with: editor).revision
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
