internal import SettleCore

/// Changes the documents and side records of a database in a write of its storage engine.
public protocol StorageWriter: StorageReader {
    /// Changes a document.
    ///
    /// - Returns: The document's sequence after the change, or `nil` if the stored document is not the expected one; nothing
    ///   is written then. In ``StorageEngine/commit(_:)`` of a shared engine the number holds inside the closure only, as the
    ///   commit gives another.
    /// - Throws: ``DatabaseError`` of the storage.
    func apply(_ change: DocumentChange) throws -> UpdateSequence?

    /// Keeps the content of a revision apart from the document's record, and returns its token, which no content had before.
    func putContent(_ content: RevisionContent) throws -> UInt64

    /// Writes a side record in place of the one with its key. The content of an attachment that is there stays as it is, and the
    /// content of a revision is never replaced.
    ///
    /// - Throws: ``DatabaseError`` of the storage; with code `attachmentMissing`, here or at the commit, for a new row that names a
    ///   place (``BlobRecord/place``) that is no longer pinned; for the content of a revision with code `invalid` if its token is not
    ///   one of contents kept apart, and `conflict` if there is a content with the token.
    func put(_ record: SideRecord) throws

    /// Removes the side record with a key, if there is one.
    func remove(_ key: SideRecord.Key) throws

    /// Runs a closure whose changes are undone if it throws, without failing the write around it.
    func part<Result>(_ body: () throws -> Result) throws -> Result

    /// Runs an action after this write is committed and before its writer continues; never if the write is undone. Actions are
    /// done in the order of commits and must not use the engine.
    func afterCommit(_ action: @escaping @Sendable () -> Void)
}

/// A change of one document. It expects the stored document to have the sequence of the given record.
public enum DocumentChange: Sendable {
    /// Writes a document with its content under the next sequence; expects that no document has its id.
    case insert(DocumentRecord)
    /// Writes a document with its content under the next sequence.
    case update(DocumentRecord)
    /// Replaces the tree alone, under the sequence it has; leaves and winner must be the same.
    case updateTree(DocumentRecord)
    /// Removes a document; the sequence moves on, so that a feed can tell.
    case remove(DocumentRecord)
}

extension StorageWriter {
    /// Writes a document that is there already.
    ///
    /// - Returns: The sequence it has now.
    /// - Throws: ``DatabaseError`` of the storage.
    @discardableResult
    public func put(_ record: DocumentRecord) throws -> UpdateSequence { try expect(.update(record), record.id) }

    /// Replaces a document's tree alone, under the sequence it has; leaves and winner must be the same.
    public func updateTree(of record: DocumentRecord) throws { try expect(.updateTree(record), record.id) }

    /// Removes a document; the sequence moves on, so that a feed can tell.
    public func remove(_ record: DocumentRecord) throws { try expect(.remove(record), record.id) }

    @discardableResult
    private func expect(_ change: DocumentChange, _ id: DocumentID) throws -> UpdateSequence {
        guard let sequence = try apply(change) else {
            throw DatabaseError(
                .storage, "\"\(id)\" was changed while it was being written, by a validation perhaps")
        }
        return sequence
    }
}
