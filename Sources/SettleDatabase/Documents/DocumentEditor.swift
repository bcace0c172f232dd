internal import RevisionTree

/// Puts revisions into documents, inside a storage engine's write.
///
/// This is the only way into storage. Whoever brings a revision, it ends in ``store(_:in:)``:
///
///     save, delete ─ parent, hash ─┐
///                                  ├─ validations ─ tree ─ contents ─ stem ─ record
///     replication ─ given history ─┘
///
/// The winner's content stands in the document's record, every other one apart. When an edit changes who wins, contents
/// change places: the old winner's moves out, the new winner's moves in.
struct DocumentEditor {
    let writer: any StorageWriter
    let hasher: RevisionHasher
    let validations: ValidationList
    let blobs: BlobStore
    let options: DatabaseOptions
    let revisionLimit: Int

    /// A revision on its way into a document.
    struct Edit {
        var revision: RevisionID
        var history: RevisionHistory?
        var parent: RevisionID?
        var isDeleted: Bool
        var content: RevisionContent
        var origin: ValidationContext.Origin
    }

    /// Makes an edit on a parent and stores it; returns it as the document it now is.
    func edit(
        _ document: Document, body: DocumentBody, on parent: RevisionID?, isDeleted: Bool, in record: DocumentRecord?
    ) throws -> Document {
        let generation = (parent?.generation ?? 0) + 1
        guard generation <= RevisionID.maximumGeneration else {
            throw DatabaseError(.invalid, "\"\(document.id)\" has reached the highest generation there is")
        }
        let before = try parent.flatMap { try content(of: $0, in: record) }
        let attachments = try settled(document.attachments, of: document.id, before: before, generation: generation)
        let revision = hasher.revision(
            of: body, parent: parent, isDeleted: isDeleted, attachments: attachments.map(\.signature))
        let edit = Edit(
            revision: revision, parent: parent, isDeleted: isDeleted,
            content: RevisionContent(body: body, attachments: attachments), origin: .local)
        if let record, let parent, record.tree.contains(revision) {
            try adopt(edit, on: parent, in: record)
        } else {
            try store(
                edit, in: record ?? DocumentRecord(id: document.id, sequence: 0, tree: RevisionTree(), content: nil))
        }
        return Document(id: document.id, revision: revision, isDeleted: isDeleted, edit.content)
    }

    /// Makes an edit that a peer has made before, whose parent was not known here until now: the two are one revision.
    private func adopt(_ edit: Edit, on parent: RevisionID, in record: DocumentRecord) throws {
        guard let ancestors = record.tree.history(of: parent) else { return }
        let history = try RevisionHistory(
            start: edit.revision.generation, signatures: [edit.revision.signature] + ancestors.signatures)
        let revision = ReplicatedRevision(
            id: record.id, history: history, isDeleted: edit.isDeleted, body: edit.content.body,
            attachments: edit.content.attachments)
        _ = try join(revision, in: record)
    }

    /// Stores a revision as a peer has made it.
    func insert(_ replicated: ReplicatedRevision) throws -> ReplicatedRevision.Outcome {
        let record = try writer.record(of: replicated.id, withContent: true)
        let revision = replicated.history.revision
        if let record, record.tree.contains(revision) { return try join(replicated, in: record) }
        let empty = DocumentRecord(id: replicated.id, sequence: 0, tree: RevisionTree(), content: nil)
        try store(edit(replicated), in: record ?? empty)
        return .stored
    }

    /// Takes from a known revision what is lacking here: a stemmed root may find its parent, and an inner revision that
    /// was only named in the history of another gets its content, as in CouchDB.
    private func join(_ replicated: ReplicatedRevision, in old: DocumentRecord) throws -> ReplicatedRevision.Outcome {
        var record = old
        let revision = replicated.history.revision
        let insertion = record.tree.insert(replicated.history, isDeleted: replicated.isDeleted)
        let isNews = record.tree.markShared(revision)
        var content: RevisionContent?
        if let node = record.tree[revision], !node.isLeaf, node.bodyToken == BodyToken.none {
            let edit = try self.edit(replicated)
            // All that can refuse comes before the first change.
            try check(edit, in: old)
            content = edit.content
        }
        guard content != nil || insertion == .joined else {
            if isNews { try writer.updateTree(of: record) }
            return .known
        }
        try moveContents(in: &record, oldWinner: old.tree.winner?.revision)
        if let content {
            record.tree.setBodyToken(try writer.putContent(content), of: revision)
            record.tree.setDeleted(replicated.isDeleted, of: revision)
        }
        for node in record.tree.stem(to: revisionLimit) { try writer.removeContent(at: node.bodyToken) }
        try writer.put(record)
        return content == nil ? .known : .stored
    }

    /// The edit that stores a revision as a peer has made it.
    private func edit(_ replicated: ReplicatedRevision) throws -> Edit {
        let revision = replicated.history.revision
        let attachments = try settled(
            replicated.attachments, of: replicated.id, before: nil, generation: revision.generation,
            keepsRevpos: true, keepsZero: replicated.keepsZeroRevpos)
        return Edit(
            revision: revision, history: replicated.history, isDeleted: replicated.isDeleted,
            content: RevisionContent(body: replicated.body, attachments: attachments), origin: .replication)
    }

    /// Puts a revision into a document's tree and writes the document.
    private func store(_ edit: Edit, in old: DocumentRecord) throws {
        try check(edit, in: old)
        var record = old
        let oldWinner = record.tree.winner?.revision
        if let history = edit.history {
            record.tree.insert(history, isDeleted: edit.isDeleted)
            record.tree.markShared(edit.revision)
        } else {
            do { try record.tree.insert(edit.revision, parent: edit.parent, isDeleted: edit.isDeleted) } catch {
                throw DatabaseError(.conflict, "\(edit.revision) can't be stored in \"\(old.id)\"", cause: error)
            }
        }
        try place(edit, in: &record, oldWinner: oldWinner)
        for node in record.tree.stem(to: revisionLimit) { try writer.removeContent(at: node.bodyToken) }
        guard old.tree.isEmpty else {
            try writer.put(record)
            return
        }
        guard try writer.putNew(record) != nil else {
            throw DatabaseError(.conflict, "\"\(old.id)\" is there already")
        }
    }

    /// Keeps the content of a new revision: in the record if it wins, else apart.
    private func place(_ edit: Edit, in record: inout DocumentRecord, oldWinner: RevisionID?) throws {
        guard record.tree.winner?.revision == edit.revision else {
            record.tree.setBodyToken(try writer.putContent(edit.content), of: edit.revision)
            return try moveContents(in: &record, oldWinner: oldWinner)
        }
        if let oldWinner, let content = record.content {
            record.tree.setBodyToken(try writer.putContent(content), of: oldWinner)
        }
        record.content = edit.content
        record.tree.setBodyToken(BodyToken.record, of: edit.revision)
    }

    /// Sees that the content in the record is the winner's, when another revision wins now.
    private func moveContents(in record: inout DocumentRecord, oldWinner: RevisionID?) throws {
        guard let winner = record.tree.winner, winner.revision != oldWinner else { return }
        if let oldWinner, let content = record.content {
            record.tree.setBodyToken(try writer.putContent(content), of: oldWinner)
        }
        record.content = try writer.content(at: winner.bodyToken)
        try writer.removeContent(at: winner.bodyToken)
        record.tree.setBodyToken(BodyToken.record, of: winner.revision)
    }

    /// Asks what may refuse the revision.
    private func check(_ edit: Edit, in record: DocumentRecord) throws {
        if edit.content.body.utf8.count > options.maximumDocumentSize {
            throw DatabaseError(
                .documentTooLarge,
                """
                \"\(record.id)\" has \(edit.content.body.utf8.count) bytes, more than the \
                \(options.maximumDocumentSize) this database allows
                """)
        }
        guard !validations.isEmpty else { return }
        let current = try base(of: edit, in: record)
        let new = Document(id: record.id, revision: edit.revision, isDeleted: edit.isDeleted, edit.content)
        let context = ValidationContext(newRevision: new, currentRevision: current, origin: edit.origin)
        try validations.check(context, warn: options.warn)
    }

    /// The revision that an edit changes, as far as it is kept: its parent or, of a peer's, the newest ancestor here.
    private func base(of edit: Edit, in record: DocumentRecord) throws -> Document? {
        for revision in edit.parent.map({ [$0] }) ?? edit.history.map({ Array($0.revisions.dropFirst()) }) ?? [] {
            guard let node = record.tree[revision], let content = try content(of: revision, in: record) else {
                continue
            }
            return Document(id: record.id, revision: revision, isDeleted: node.isDeleted, content)
        }
        return nil
    }
}
