internal import SettleCore

/// Adds revisions to documents, inside a storage engine's write.
///
/// All revisions are stored through this type. Every one, whatever its source, ends in ``store(_:in:)``:
///
///     save, delete ─ parent, hash ─┐
///                                  ├─ validations ─ tree ─ contents ─ stem ─ record
///     replication ─ given history ─┘
///
/// The winner's content is in the document's record; every other content is stored separately. When an edit changes
/// the winner, the old winner's content moves out of the record and the new winner's moves in.
struct DocumentEditor {
    let writer: any StorageWriter
    /// The database whose rules apply. An editor is made for each save, so it does not copy them.
    let database: Database
    /// Stamps changes; `nil` for edits that are not attributed to this device.
    var clocks: DeviceClock?
    /// Writes the journal; `nil` if the journal is off, and for edits that are not operations.
    var journal: JournalRecorder?
    /// The entries of the journal, whose contents must not be lost; `nil` if the journal is off.
    let journalCache: PendingCache?

    /// The same editor for edits that are not local operations.
    var withoutJournal: DocumentEditor {
        var editor = self
        editor.journal = nil
        return editor
    }
    /// The caller's check for each revision, in addition to the validations; see ``WriteCheck``.
    var question: DocumentValidation?

    var options: DatabaseOptions { database.options }
    var validations: ValidationList { database.validations }
    var identity: UInt64 { database.identity }
    var designChanges: DesignChanges { database.designChanges }

    /// Announces documents that will be read one by one, so that an engine across a network can fetch them
    /// together.
    func prepare(_ ids: [DocumentID], withContent: Bool) throws {
        try database.capabilities.prefetching?.prepare(ids, withContent: withContent)
    }

    /// A revision to be added to a document.
    struct Edit {
        var revision: RevisionID
        var history: RevisionHistory?
        var parent: RevisionID?
        var isDeleted: Bool
        var content: RevisionContent
        var origin: ValidationContext.Origin
        var isDeletionAtSource = false
    }

    /// Makes an edit and stores it; returns the resulting document.
    func document(by edit: DocumentEdit, in record: DocumentRecord?) throws -> Document {
        try document(edit.id, self.edit(edit, in: record))
    }

    /// A document as an edit has made it.
    func document(_ id: DocumentID, _ made: Edit) -> Document {
        Document(id: id, revision: made.revision, isDeleted: made.isDeleted, made.content, origin: identity)
    }

    /// Makes an edit of its parent, in the record of its document if there is one, and stores it.
    func edit(_ wanted: DocumentEdit, in record: DocumentRecord?) throws -> Edit {
        let (id, parent, isDeleted) = (wanted.id, wanted.parent, wanted.isDeleted)
        let generation = (parent?.generation ?? 0) + 1
        guard generation <= RevisionID.maximumGeneration else {
            throw DatabaseError(.invalid, "\"\(id)\" has reached the highest generation there is")
        }
        try wanted.body.check(of: id)
        let moment = try moment(of: id)
        let body =
            try moment.map { try stamped(wanted.body, at: $0, on: parent, isDeleted: isDeleted, in: record) }
            ?? wanted.body
        let before = wanted.attachments.isEmpty ? nil : try parent.flatMap { try content(of: $0, in: record) }
        let attachments = try settled(wanted.attachments, of: id, before: before, generation: generation)
        let signatures = attachments.map(\.signature)
        let revision =
            wanted.forecast?.revision(of: body, parent: parent, isDeleted: isDeleted, attachments: signatures)
            ?? RevisionHasher().revision(of: body, parent: parent, isDeleted: isDeleted, attachments: signatures)
        let edit = Edit(
            revision: revision, parent: parent, isDeleted: isDeleted,
            content: RevisionContent(body: body, attachments: attachments), origin: .local)
        if let record, record.tree.contains(revision) {
            // The same branch was created before.
            if let parent, record.tree.parent(of: revision) != parent { try adopt(edit, on: parent, in: record) }
        } else {
            try store(
                edit, in: record ?? DocumentRecord(id: id, sequence: 0, tree: RevisionTree(), content: nil))
        }
        if let moment { try clocks?.reserve(moment, writer) }
        return edit
    }

    /// Stores an edit that a peer has made before, whose parent was unknown here until now: the two are the same
    /// revision.
    private func adopt(_ edit: Edit, on parent: RevisionID, in record: DocumentRecord) throws {
        guard let ancestors = record.tree.history(of: parent) else { return }
        let history = try RevisionHistory(
            start: edit.revision.generation, signatures: [edit.revision.signature] + ancestors.signatures)
        let revision = ReplicatedRevision(
            id: record.id, history: history, isDeleted: edit.isDeleted, body: edit.content.body,
            attachments: edit.content.attachments)
        _ = try join(revision, in: record)
    }

    /// Stores a revision from a peer.
    func insert(_ replicated: ReplicatedRevision) throws -> ReplicatedRevision.Outcome {
        try clocks?.learn(replicated.body, writer)
        let record = try writer.storedRecord(of: replicated.id, withContent: true)?.checkedTree()
        let revision = replicated.history.revision
        if let record, record.tree.contains(revision) { return try join(replicated, in: record) }
        let empty = DocumentRecord(id: replicated.id, sequence: 0, tree: RevisionTree(), content: nil)
        try store(edit(replicated), in: record ?? empty)
        return .stored
    }

    /// Completes a known revision. A stemmed root may get its parent. An inner revision that was known only from
    /// another one's history gets its content, which CouchDB would not keep.
    private func join(_ replicated: ReplicatedRevision, in old: DocumentRecord) throws -> ReplicatedRevision.Outcome {
        var record = old
        let revision = replicated.history.revision
        let insertion = record.tree.insert(replicated.history, isDeleted: replicated.isDeleted)
        let isDeletion = replicated.isDeletionAtSource && Self.markDeletion(revision, in: &record.tree)
        let isNews = record.tree.markShared(revision)
        var content: RevisionContent?
        if let node = record.tree[revision], !node.isLeaf, node.bodyToken == BodyToken.none {
            let edit = try self.edit(replicated)
            // All checks that can refuse the revision run before the first change.
            try check(edit, in: old)
            content = edit.content
        }
        guard content != nil || insertion == .joined || isDeletion else {
            if isNews {
                try writer.updateTree(of: record)
                try journal?.acknowledge(revision, in: record, with: self)
            }
            return .known
        }
        try moveContents(in: &record, oldWinner: old.tree.winner?.revision)
        if let content {
            record.tree.setBodyToken(try writer.putContent(content), of: revision)
            record.tree.setDeleted(replicated.isDeleted, of: revision)
        }
        try stem(&record)
        if record.id.isDesign { designChanges.markPending() }
        try writer.put(record)
        if isNews { try journal?.acknowledge(revision, in: record, with: self) }
        return content == nil ? .known : .stored
    }

    /// Marks a tombstone as a user's deletion; returns whether that changed anything.
    private static func markDeletion(_ revision: RevisionID, in tree: inout RevisionTree) -> Bool {
        guard let node = tree[revision], node.isLeaf, node.isDeleted, !node.marks.contains(.closing) else {
            return false
        }
        return tree.mark(revision, .deletion)
    }

    /// The edit that stores a revision from a peer.
    private func edit(_ replicated: ReplicatedRevision) throws -> Edit {
        let revision = replicated.history.revision
        let attachments = try settled(
            replicated.attachments, of: replicated.id, before: nil, generation: revision.generation,
            keepsRevpos: true, keepsZero: replicated.keepsZeroRevpos)
        return Edit(
            revision: revision, history: replicated.history, isDeleted: replicated.isDeleted,
            content: RevisionContent(body: replicated.body, attachments: attachments), origin: .replication,
            isDeletionAtSource: replicated.isDeletionAtSource)
    }

    /// Adds a revision to a document's tree and writes the document.
    private func store(_ edit: Edit, in old: DocumentRecord) throws {
        var record = old
        try apply(edit, to: &record)
        if record.id.isDesign { designChanges.markPending() }
        if !old.tree.isEmpty {
            try writer.put(record)
        } else if try writer.apply(.insert(record)) == nil {
            throw DatabaseError(.conflict, "\"\(old.id)\" is there already")
        }
        try journal?.record(edit, from: old, to: record, with: self)
    }

    /// Adds a revision to a record that is written afterwards. If it throws, parts may already be written.
    func apply(_ edit: Edit, to record: inout DocumentRecord) throws {
        try check(edit, in: record)
        let old = record.tree
        let insertion: RevisionTree.Insertion
        if let history = edit.history {
            insertion = record.tree.insert(history, isDeleted: edit.isDeleted)
            record.tree.markShared(edit.revision)
        } else {
            do {
                insertion = try record.tree.insert(edit.revision, parent: edit.parent, isDeleted: edit.isDeleted)
            } catch {
                throw DatabaseError(.conflict, "\(edit.revision) can't be stored in \"\(record.id)\"", cause: error)
            }
        }
        mark(edit, insertion, from: old, in: &record.tree)
        try place(edit, in: &record, oldWinner: old.winner?.revision)
        try stem(&record)
    }

    /// Removes ancestors beyond the limit. The parents of closing tombstones always stay, because they show which
    /// answers race.
    private func stem(_ record: inout DocumentRecord) throws {
        // A document of one revision, as nearly all new ones are, need not ask for the limit.
        guard record.tree.count > 1 else { return }
        let revisionLimit = try Database.revisionLimit(in: writer)
        guard record.tree.count > revisionLimit else { return }
        let isSettled = revisionLimit < 2 && record.tree.allNodes.contains { $0.marks.contains(.closing) }
        let before = record
        let stemmed = record.tree.stem(to: isSettled ? 2 : revisionLimit)
        guard !stemmed.isEmpty else { return }
        try journalCache?.keepContents(of: stemmed, in: before, with: writer)
        for node in stemmed { try writer.removeContent(at: node.bodyToken) }
    }

    /// Marks a new revision with its origin, for settling conflicts.
    private func mark(
        _ edit: Edit, _ insertion: RevisionTree.Insertion, from old: RevisionTree, in tree: inout RevisionTree
    ) {
        if edit.history != nil, isRemoteSide(edit.revision, insertion, from: old, to: tree) {
            tree.mark(edit.revision, .incoming)
        }
        guard edit.isDeleted else { return }
        if ClosingTombstone(edit.content.body) != nil {
            tree.mark(edit.revision, .closing)
        } else if edit.isDeletionAtSource || (edit.history == nil && tree.isDeleted) {
            tree.mark(edit.revision, .deletion)
        }
    }

    /// Whether a peer's revision is the remote side of a conflict: it started a branch beside an existing one, or
    /// continues such a branch while the conflict lasts.
    private func isRemoteSide(
        _ revision: RevisionID, _ insertion: RevisionTree.Insertion, from old: RevisionTree, to tree: RevisionTree
    ) -> Bool {
        guard insertion != .branched else { return true }
        guard let known = tree.history(of: revision)?.revisions.first(where: old.contains),
            old[known]?.marks.contains(.incoming) == true
        else { return false }
        return tree.isConflicted || tree.isContested
    }

    /// Stores the content of a new revision: in the record if it wins, otherwise separately.
    private func place(_ edit: Edit, in record: inout DocumentRecord, oldWinner: RevisionID?) throws {
        guard let winner = record.tree.winner, winner.revision == edit.revision else {
            // Everything that can fail runs before the first change.
            let content = try winnersContent(in: record, oldWinner: oldWinner)
            record.tree.setBodyToken(try writer.putContent(edit.content), of: edit.revision)
            return try moveIn(content, to: &record, oldWinner: oldWinner)
        }
        try moveIn(edit.content, to: &record, oldWinner: oldWinner)
    }

    /// Moves contents so that the record contains the winner's, if the winner has changed.
    private func moveContents(in record: inout DocumentRecord, oldWinner: RevisionID?) throws {
        try moveIn(winnersContent(in: record, oldWinner: oldWinner), to: &record, oldWinner: oldWinner)
    }

    /// The winner's content, which belongs into the record.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` if it can't be read.
    private func winnersContent(in record: DocumentRecord, oldWinner: RevisionID?) throws -> RevisionContent? {
        guard let winner = record.tree.winner, winner.revision != oldWinner else {
            if let damage = record.damage { throw damage }
            return record.content
        }
        return try writer.content(of: winner, in: record)
    }

    /// Moves a content into the record as the winner's, and the old winner's out of it. An unreadable one is
    /// discarded.
    private func moveIn(_ content: RevisionContent?, to record: inout DocumentRecord, oldWinner: RevisionID?) throws {
        guard let winner = record.tree.winner, winner.revision != oldWinner else { return }
        if let oldWinner {
            let token = try record.content.map { try writer.putContent($0) } ?? BodyToken.none
            record.tree.setBodyToken(token, of: oldWinner)
        }
        try writer.removeContent(at: winner.bodyToken)
        record.tree.setBodyToken(BodyToken.record, of: winner.revision)
        (record.content, record.damage) = (content, nil)
    }

    /// Runs the checks that may refuse the revision.
    private func check(_ edit: Edit, in record: DocumentRecord) throws {
        try record.id.check()
        try edit.content.body.check(of: record.id)
        if edit.content.body.utf8.count > options.maximumDocumentSize {
            throw DatabaseError(
                .documentTooLarge,
                """
                \"\(record.id)\" has \(edit.content.body.utf8.count) bytes, more than the \
                \(options.maximumDocumentSize) this database allows
                """)
        }
        guard asksAnything else { return }
        let current = try base(of: edit, in: record)
        let new = Document(
            id: record.id, revision: edit.revision, isDeleted: edit.isDeleted, edit.content, origin: identity)
        let context = ValidationContext(newRevision: new, currentRevision: current, origin: edit.origin)
        try validations.check(context, warn: options.warn)
        try question?(context)
    }

    /// Whether any check except that of the size can refuse a revision.
    var asksAnything: Bool { question != nil || !validations.isEmpty }

    /// The revision that an edit changes: its newest ancestor whose content is kept. That is the parent, unless an
    /// edit begins a branch on a compacted revision, or a peer's revision has ancestors that never arrived. If an
    /// edit has no such ancestor, the winner is used, so that a rule about the stored document applies.
    private func base(of edit: Edit, in record: DocumentRecord) throws -> Document? {
        let ancestors =
            if let parent = edit.parent { record.tree.history(of: parent)?.revisions ?? [parent] } else {
                edit.history.map { Array($0.revisions.dropFirst()) } ?? []
            }
        let winner = edit.parent == nil ? [] : record.tree.winner.map { [$0.revision] } ?? []
        for revision in ancestors + winner {
            guard let node = record.tree[revision], let content = try content(of: revision, in: record) else {
                continue
            }
            return Document(
                id: record.id, revision: revision, isDeleted: node.isDeleted, content, origin: identity)
        }
        return nil
    }
}

// MARK: - Content

extension DocumentEditor {
    /// The content of a revision; `nil` if it is not kept or not readable.
    func content(of revision: RevisionID, in record: DocumentRecord?) throws -> RevisionContent? {
        guard let record, let node = record.tree[revision] else { return nil }
        return try writer.readableContent(of: node, in: record)
    }

    /// The attachments of a new revision: each with its content in the database and its `revpos`.
    ///
    /// If the parent has the attachment with the same bytes and type, its `revpos` stays, unless the attachment's
    /// own `revpos` is this revision's. An attachment from a peer has the peer's `revpos`. Any other attachment was
    /// added with this revision.
    func settled(
        _ attachments: [DocumentAttachment], of id: DocumentID, before: RevisionContent?, generation: UInt64,
        keepsRevpos: Bool = false, keepsZero: Bool = false
    ) throws -> [DocumentAttachment] {
        guard !attachments.isEmpty else { return [] }
        var names: Set<[UInt8]> = []
        return try attachments.map { attachment in
            try attachment.checkNumbers(of: id)
            guard names.insert(Array(attachment.name.utf8)).inserted else {
                throw DatabaseError(.invalid, "\"\(id)\" has two attachments named \"\(attachment.name)\"")
            }
            if let pending = database.blobs.storable(attachment.pending) {
                try writer.put(.blob(pending))
            } else if try writer.blob(attachment.blob) == nil {
                throw DatabaseError(
                    .attachmentMissing,
                    "the content of \"\(attachment.name)\" of \"\(id)\" is not in this database; attach it again")
            }
            let same = before?.attachments.first {
                $0.isNamed(attachment.name) && $0.digest == attachment.digest
                    && $0.contentType == attachment.contentType
            }
            let given = keepsRevpos && (attachment.revpos > 0 || keepsZero) ? attachment.revpos : generation
            let revpos = attachment.revpos == generation ? generation : same?.revpos ?? given
            return DocumentAttachment(
                name: attachment.name, contentType: attachment.contentType, revpos: revpos,
                digest: attachment.digest, length: attachment.length, encodedLength: attachment.encodedLength,
                encoding: attachment.encoding, blob: attachment.blob)
        }
    }
}
