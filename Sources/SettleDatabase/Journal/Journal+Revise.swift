package import SettleCore

/// Support for sessions that send operations one by one: after the server has accepted an operation, the later ones are
/// rebased on the server's revision.
///
///     before   1-a ── 2-b ── 3-c        operations: b, c          the server took b as 2-x
///     after    1-a ── 2-x ── 3-c'       operations: c'
extension Journal {
    /// Removes an operation or replaces its result, and rebases the later ones of the same document.
    ///
    /// - Parameters:
    ///   - number: The number of the operation's entry. If the operation was undone meanwhile, the current content
    ///     is rebased on the server's revision.
    ///   - id: The document.
    ///   - content: The document's content after the operation; `nil` if it is deleted.
    ///   - isKept: Whether the operation stays, with this result.
    ///   - server: The revision that a server made from it, which replaces all local ones; `nil` to leave the tree
    ///     unchanged.
    /// - Returns: Whether the operation existed.
    /// - Throws: ``DatabaseError`` if the storage fails, or with code `refused` by a validation.
    package func revise(
        _ number: Int64, of id: DocumentID, to content: RevisionContent?, isKept: Bool,
        onto server: ReplicatedRevision? = nil
    ) throws -> Bool {
        try content?.body.check(of: id)
        return try database.edit { editor in
            let entries = try cache.entries(of: id, in: editor.writer)
            guard let index = entries.firstIndex(where: { $0.number == number }) else {
                if let server { try revise(entries, undoneSince: server, of: id, to: content, with: editor) }
                return false
            }
            let entry = entries[index]
            if let server { try replaceTree(of: id, by: server, with: editor) }
            var revised = Array(entries[..<index])
            if isKept {
                var kept = entry
                kept.new = content
                revised.append(kept)
            }
            for later in entries[(index + 1)...] {
                var later = later
                later.old = Self.moved(later.old, from: entry.new, to: content)
                later.new = Self.moved(later.new, from: entry.new, to: content)
                revised.append(later)
            }
            if !isKept { try editor.writer.remove(.journal(number)) }
            if revised.isEmpty, server == nil { try show(content, of: id, with: editor) }
            try lay(revised, of: id, with: editor)
            return true
        }
    }

    /// Rebases the current content on a server's revision. Its operation was undone while it was being sent.
    private func revise(
        _ entries: [JournalEntry], undoneSince server: ReplicatedRevision, of id: DocumentID,
        to content: RevisionContent?, with editor: DocumentEditor
    ) throws {
        let record = try editor.writer.record(of: id, withContent: true)
        let current = record?.tree.winner?.isDeleted == false ? record?.content : nil
        try replaceTree(of: id, by: server, with: editor)
        var entries = entries
        if entries.isEmpty {
            guard !content.isSame(as: current) else { return }
            var late = JournalEntry(
                documentID: id, revision: server.history.revision, old: content, new: current,
                time: database.options.now())
            late.number = try cache.nextNumber(for: id)
            try editor.writer.put(.journal(StoredJournalEntry(late)))
            entries = [late]
        } else {
            entries[0].old = content
        }
        try lay(entries, of: id, with: editor)
    }

    private func replaceTree(of id: DocumentID, by server: ReplicatedRevision, with editor: DocumentEditor) throws {
        if case .refused(let error) = try editor.withoutJournal.insert(server) { throw error }
        try database.purgeLeaves(of: id, but: server.history.revision, with: editor.writer)
    }

    /// Removes all operations of a document. They cancel each other out, so nothing needs to be sent.
    package func forget(_ id: DocumentID) throws {
        try database.edit { editor in
            for entry in try cache.stored(of: id, in: editor.writer) {
                try editor.writer.remove(.journal(entry.number))
            }
            cache.set(id, to: [], after: editor.writer)
        }
    }

    /// Gives a document that exists only here a new id, and updates references to it in documents with operations.
    package func rename(_ id: DocumentID, to new: DocumentID, references: (JSONValue) -> JSONValue) throws {
        try database.edit { editor in
            let moved = try cache.entries(of: id, in: editor.writer).map { entry in
                var entry = entry
                entry.documentID = new
                return entry
            }
            try database.purgeLeaves(of: id, but: nil, with: editor.writer)
            try lay(moved, of: new, with: editor)
            cache.set(id, to: [], after: editor.writer)
            // Documents are read page by page; references are rewritten after all were found, because that moves
            // entries.
            var referring: [DocumentID] = []
            var last: Int64 = 0
            while case let page = try editor.writer.journalEntries(after: last, limit: 100), let end = page.last {
                for entry in try editor.writer.resolved(page) where try rewritten(entry, references) != entry {
                    if !referring.contains(entry.documentID) { referring.append(entry.documentID) }
                }
                last = end.number
            }
            for other in referring {
                let entries = other == new ? moved : try cache.entries(of: other, in: editor.writer)
                try lay(entries.map { try rewritten($0, references) }, of: other, with: editor)
            }
        }
    }

    /// Gives no later operation a number up to this one. A session keeps numbers of operations, which may have been
    /// undone before the database was opened.
    package func reserveNumbers(through number: Int64) { cache.reserveNumbers(through: number) }

    private func rewritten(_ given: JournalEntry, _ references: (JSONValue) -> JSONValue) throws -> JournalEntry {
        var entry = given
        entry.old = try entry.old.map { try Self.rewritten($0, references) }
        entry.new = try entry.new.map { try Self.rewritten($0, references) }
        return entry
    }

    /// Makes a server's revision, which is already stored here, the document's only leaf. A document with
    /// operations keeps its leaves.
    ///
    /// - Returns: Whether the document is the server's revision now.
    package func adopt(_ revision: RevisionID, of id: DocumentID) throws -> Bool {
        try database.edit { editor in
            guard let tree = try editor.writer.record(of: id, withContent: false)?.tree else { return false }
            if let mine = try cache.stored(of: id, in: editor.writer).last?.revision, mine != revision {
                if tree[revision]?.isLeaf == true { try database.purgeLeaves(of: id, but: mine, with: editor.writer) }
                return false
            }
            try database.purgeLeaves(of: id, but: revision, with: editor.writer)
            return true
        }
    }

    /// Writes the result of each operation to the document without recording it, and updates the entries with the
    /// new revisions.
    private func lay(_ entries: [JournalEntry], of id: DocumentID, with editor: DocumentEditor) throws {
        var laid: [StoredJournalEntry] = []
        for entry in entries {
            try show(entry.new, of: id, with: editor)
            var entry = entry
            if let winner = try editor.writer.record(of: id, withContent: false)?.tree.winner {
                entry.revision = winner.revision
            }
            laid.append(StoredJournalEntry(entry))
            try editor.writer.put(.journal(laid[laid.count - 1]))
        }
        cache.set(id, to: laid, after: editor.writer)
    }

    private func show(_ content: RevisionContent?, of id: DocumentID, with editor: DocumentEditor) throws {
        let record = try editor.writer.record(of: id, withContent: true)
        let current = record?.tree.winner?.isDeleted == false ? record?.content : nil
        try write(content, of: id, instead: current, with: editor)
    }

    /// Rebases a later content on a changed earlier one. If both changed a member, the later change stays.
    private static func moved(
        _ content: RevisionContent?, from old: RevisionContent?, to new: RevisionContent?
    ) -> RevisionContent? {
        if content.isSame(as: old) { return new }
        guard let content, let old, let new, let base = old.body.json.object, let mine = content.body.json.object,
            let theirs = new.body.json.object,
            let merged = ThreeWayMerge.merge(base: base, versions: [mine, theirs]).merged,
            let body = try? DocumentBody(.object(merged))
        else { return content }
        let keepsOwn = !RevisionContent(body: old.body, attachments: content.attachments).isSame(as: old)
        return RevisionContent(body: body, attachments: keepsOwn ? content.attachments : new.attachments)
    }

    private static func rewritten(
        _ content: RevisionContent, _ change: (JSONValue) -> JSONValue
    ) throws -> RevisionContent {
        RevisionContent(body: try DocumentBody(change(content.body.json)), attachments: content.attachments)
    }
}
