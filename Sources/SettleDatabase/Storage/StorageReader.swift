public import SettleCore

/// The questions a storage engine answers about one state of a database.
public protocol StorageReader {
    /// The position of the newest change, 0 before the first.
    var lastSequence: UpdateSequence { get throws }

    /// A document as far as it can be read, or `nil`; with the winner's content if asked for. What can't be read is empty, and
    /// ``DocumentRecord/damage`` says why.
    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord?

    /// A document with the winner's content as ``storedRecord(of:withContent:)`` gives it, if its parts are short. The parts of
    /// a longer one are not read.
    ///
    /// - Throws: ``NotAtHand`` when tree, body and list of attachments together are longer than `mostBytes`.
    func shortRecord(of id: DocumentID, mostBytes: Int) throws -> DocumentRecord?

    /// The content of a revision that is kept apart from the document's record.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for one that can't be read.
    func content(at token: UInt64) throws -> RevisionContent?

    /// The tokens of all contents kept apart, ascending, so many after one at the most.
    func contentTokens(after token: UInt64, limit: Int) throws -> [UInt64]

    /// Documents in the order of their last changes; damaged ones as ``storedRecord(of:withContent:)`` gives them.
    func records(changedIn range: SequenceRange, limit: Int, withContent: Bool) throws -> [DocumentRecord]

    /// Documents in the order of their ids' bytes, deleted ones included; damaged ones as ``storedRecord(of:withContent:)`` gives
    /// them, but for those whose id is damaged, which are left out.
    func records(in range: DocumentRange, limit: Int, withContent: Bool) throws -> [DocumentRecord]

    /// The ids of documents in a conflict of one kind, ascending, after one; found by an index.
    func conflictedIDs(_ kind: ConflictKind, after id: DocumentID?, limit: Int) throws -> [DocumentID]

    /// How many documents there are.
    func counts() throws -> DocumentCounts

    /// How much of what apps gave is kept.
    ///
    /// - Complexity: O(*n*) in documents and contents.
    func payload() throws -> StoragePayload

    /// How many documents of a range of ids are not deleted.
    func countLive(in range: DocumentRange) throws -> Int

    /// How many documents were changed in a range.
    func count(changedIn range: SequenceRange) throws -> Int

    /// A local document, by its whole id.
    func localDocument(_ id: DocumentID) throws -> LocalDocument?

    /// Local documents in the order of their ids.
    func localDocuments(after id: DocumentID?, limit: Int) throws -> [LocalDocument]

    /// What is known of a blob, or `nil`.
    func blob(_ digest: BlobDigest) throws -> BlobRecord?

    /// The blobs in the order of their digests, without contents.
    func blobs(after digest: BlobDigest?, limit: Int) throws -> [BlobRecord]

    /// When a document is to be purged, in milliseconds since 1970.
    func expiration(of id: DocumentID) throws -> Int64?

    /// The documents to be purged by a time, earliest first.
    func expired(by milliseconds: Int64, limit: Int) throws -> [DocumentID]

    /// When the next document is to be purged.
    func nextExpiration() throws -> Int64?

    /// A setting of the database.
    func setting(_ name: String) throws -> String?

    /// The entries of the journal after one, ascending by number, so many at the most.
    func journalEntries(after number: Int64, limit: Int) throws -> [StoredJournalEntry]

    /// The newest entries of the journal, the last one first.
    func newestJournalEntries(limit: Int) throws -> [StoredJournalEntry]

    /// The entry of the journal of a number, or `nil`.
    func journalEntry(_ number: Int64) throws -> StoredJournalEntry?
}

/// How much of what apps gave to a database is kept, in bytes.
public struct StoragePayload: Sendable, Hashable {
    /// The bodies of winners.
    public var winners: Int64
    /// Contents of other revisions, kept apart.
    public var apart: Int64
    /// Contents of attachments, as they are stored.
    public var attachments: Int64
    /// Those of them that have files of their own.
    public var attachmentFiles: Int64

    /// Makes figures.
    public init(winners: Int64 = 0, apart: Int64 = 0, attachments: Int64 = 0, attachmentFiles: Int64 = 0) {
        (self.winners, self.apart, self.attachments, self.attachmentFiles) = (
            winners, apart, attachments, attachmentFiles
        )
    }
}

extension StorageReader {
    /// Throws ``NotAtHand``: an engine that does not know how long a document is takes it for a long one.
    public func shortRecord(of id: DocumentID, mostBytes: Int) throws -> DocumentRecord? { throw NotAtHand() }

    /// A document, or `nil`; with the winner's content if asked for.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for one of which that can't be read.
    public func record(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        let record = try storedRecord(of: id, withContent: withContent)
        if let damage = record?.damage { throw damage }
        return record
    }

    /// The content of a revision of a document, `nil` for one that is not kept.
    ///
    /// - Parameters:
    ///   - node: The revision.
    ///   - record: Its document, with the winner's content.
    /// - Returns: The content.
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for one that can't be read.
    public func content(of node: RevisionNode, in record: DocumentRecord) throws -> RevisionContent? {
        if node.bodyToken == BodyToken.record {
            if let damage = record.damage { throw damage }
            return record.content
        }
        do { return try content(at: node.bodyToken) } catch let error as DatabaseError
            where error.code == .damagedDocument
        {
            throw DatabaseError.damaged(record.id, "its revision \(node.revision)", cause: error)
        }
    }

    /// The same where what can't be read is as good as not kept: for edits that put something else in its place.
    func readableContent(of node: RevisionNode, in record: DocumentRecord) throws -> RevisionContent? {
        do { return try content(of: node, in: record) } catch let error as DatabaseError
            where error.code == .damagedDocument
        { return nil }
    }
}

extension DatabaseError {
    /// The error of a document of which a part can't be read.
    static func damaged(_ id: DocumentID, _ part: String, cause: any Error) -> DatabaseError {
        let reason = (cause as? DatabaseError)?.message ?? "\(cause)"
        return DatabaseError(
            .damagedDocument,
            "\"\(id)\" is damaged, \(part) can't be read: \(reason). Restore it from a copy, or purge it", cause: cause)
    }
}

extension DocumentRecord {
    /// The record itself.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` when its revisions can't be read.
    func checkedTree() throws -> DocumentRecord {
        if let damage, tree.isEmpty { throw damage }
        return self
    }
}
