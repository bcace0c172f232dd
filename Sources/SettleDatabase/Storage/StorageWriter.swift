public import SettleCore

/// What can be changed in a storage engine's write.
public protocol StorageWriter: StorageReader {
    /// Writes a document that is there already, with the winner's content, and gives it the next sequence.
    ///
    /// - Parameter record: The document; its content must be there, its sequence must be the one it has.
    /// - Returns: The sequence it has now.
    /// - Throws: ``DatabaseError`` of the storage.
    @discardableResult
    func put(_ record: DocumentRecord) throws -> UpdateSequence

    /// Writes a document that is new, with the winner's content, and gives it the next sequence.
    ///
    /// - Parameter record: The document; its content must be there, its sequence is ignored.
    /// - Returns: The sequence it has, or `nil` when there is a document of that id; nothing is written then.
    /// - Throws: ``DatabaseError`` of the storage.
    func putNew(_ record: DocumentRecord) throws -> UpdateSequence?

    /// Replaces a document's tree alone, under the sequence it has; leaves and winner must be the same.
    func updateTree(of record: DocumentRecord) throws

    /// Forgets a document and moves the sequence on, so that a feed can tell.
    func remove(_ record: DocumentRecord) throws

    /// Keeps the content of a revision apart from the document's record, and returns where.
    func putContent(_ content: RevisionContent) throws -> UInt64

    /// The highest token that a content was given, at least of those that are there.
    func newestContentToken() throws -> UInt64

    /// Forgets a content that is kept apart.
    func removeContent(at token: UInt64) throws

    /// Writes a local document.
    func put(_ document: LocalDocument) throws

    /// Forgets a local document.
    func removeLocalDocument(_ id: DocumentID) throws

    /// Keeps a blob; nothing happens when it is there.
    func put(_ blob: BlobRecord) throws

    /// Forgets a blob.
    func removeBlob(_ digest: BlobDigest) throws

    /// Sets or clears when a document is to be purged, in milliseconds since 1970.
    func setExpiration(_ milliseconds: Int64?, of id: DocumentID) throws

    /// Sets or clears a setting of the database.
    func setSetting(_ name: String, to value: String?) throws

    /// Writes an entry of the journal under its number, in place of one that is there.
    func putJournalEntry(_ entry: StoredJournalEntry) throws

    /// Forgets an entry of the journal.
    func removeJournalEntry(_ number: Int64) throws

    /// Forgets all entries of the journal.
    func removeJournal() throws

    /// Does something once this write is committed, before whoever waits for it goes on; never if it is undone. Actions are
    /// done in the order of commits and must not use the engine.
    func afterCommit(_ action: @escaping @Sendable () -> Void)
}
