public import RevisionTree

extension Database {
    /// Deletes a document by storing a tombstone on the revision it was read at.
    ///
    /// The tombstone replicates, so that the document goes everywhere. It is empty but for the members to be kept: a
    /// filtered replication passes a deletion on only if the tombstone still has what the filter looks at
    /// (SEMANTICS 131, K19). In a document with conflicts only the one leaf goes (SEMANTICS 201).
    ///
    /// - Parameters:
    ///   - document: The document as it was read.
    ///   - keeping: Top-level members the tombstone keeps, besides ``membersKeptOnDelete()``; those of a closing tombstone
    ///     (`$closed`, `$kept`, `$resolver`) are not kept.
    ///   - conflict: What to do when the document was changed since it was read. When the last write wins, a document
    ///     that is deleted or purged already is left as it is (SEMANTICS 51); so is a deleted one when a handler merges.
    /// - Returns: The tombstone, or `nil` when there was nothing to delete.
    /// - Throws: ``DatabaseError`` with code `notFound` for a document never saved or purged, `conflict`, `refused`, and as
    ///   ``save(_:onConflict:)``.
    @discardableResult
    public func delete(
        _ document: Document, keeping: Set<String> = [], onConflict conflict: SaveConflict
    ) throws -> Document? {
        let kept = keeping.union(try membersKeptOnDelete())
        switch conflict {
        case .fail, .lastWriteWins:
            return try edit { editor in
                try Self.delete(document, keeping: kept, lastWriteWins: conflict.isLastWriteWins, with: editor)
            }
        case .merge(let handler):
            return try merging(document, handler) { new -> Document? in
                if new.revision != nil, try tree(of: new.id)?.isDeleted == true { return nil }
                return try edit { try Self.delete(new, keeping: kept, lastWriteWins: false, with: $0) }
            }
        }
    }

    /// Deletes whatever is stored under an id, as ``delete(_:keeping:onConflict:)`` does when the last write wins.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` when there is no such document.
    @discardableResult
    public func delete(_ id: DocumentID, keeping: Set<String> = []) throws -> Document? {
        try transaction {
            guard let document = try document(id) else {
                throw DatabaseError(.notFound, "there is no document \"\(id)\" to delete")
            }
            return try delete(document, keeping: keeping, onConflict: .fail)
        }
    }

    /// The top-level members every tombstone of this database keeps; none unless set.
    public func membersKeptOnDelete() throws -> Set<String> {
        guard let text = try engine.read({ try $0.setting("members_kept_on_delete") }) else { return [] }
        return Set(((try? JSON(parsing: text))?.array ?? []).compactMap(\.string))
    }

    /// Sets the top-level members every tombstone of this database keeps, such as those its filters look at.
    public func setMembersKeptOnDelete(_ names: Set<String>) throws {
        let list = names.isEmpty ? nil : JSON.array(names.sorted().map(JSON.string)).description
        try engine.write { try $0.setSetting("members_kept_on_delete", to: list) }
    }

    static func delete(
        _ document: Document, keeping: Set<String>, lastWriteWins: Bool, with editor: DocumentEditor
    ) throws -> Document? {
        let record = try editor.writer.record(of: document.id, withContent: true)
        guard let record, let winner = record.tree.winner else {
            if lastWriteWins, document.revision != nil { return nil }
            throw DatabaseError(.notFound, "there is no document \"\(document.id)\" to delete")
        }
        if lastWriteWins, winner.isDeleted { return nil }
        let target = lastWriteWins ? winner.revision : document.revision
        guard let target, let node = record.tree[target], node.isLeaf, !node.isDeleted else {
            throw conflict(document, winner)
        }
        let body = try tombstone(keeping: keeping, of: editor.content(of: target, in: record)?.body)
        return try editor.edit(
            Document(id: document.id), body: body, on: target, isDeleted: true, in: record)
    }

    static func tombstone(keeping names: Set<String>, of body: DocumentBody?) throws -> DocumentBody {
        let names = names.subtracting(ClosingTombstone.names)
        guard !names.isEmpty, let members = body?.json.object else { return .empty }
        let kept = members.filter { names.contains($0.name) }.map { ($0.name, $0.value) }
        return try DocumentBody(.object(JSONObject(kept)))
    }
}
