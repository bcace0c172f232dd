public import SettleCore

/// The questions a storage engine answers about one state of a database: about documents by id and by sequence, and about side
/// records by key. Everything else about it is derived from these.
public protocol StorageReader {
    /// The position of the newest change, 0 before the first.
    var lastSequence: UpdateSequence { get throws }

    /// The document with an id, or `nil`; with the winner's content if asked for. Parts of a damaged document that can't be read are
    /// empty, and ``DocumentRecord/damage`` says why.
    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord?

    /// The first documents of a scan, damaged ones as ``storedRecord(of:withContent:)`` returns them. A document with a damaged
    /// id is left out, except from the changes, where its record has no revisions.
    ///
    /// There may be fewer than `limit` if their contents are large: SQLite's engine ends a page at 4 MiB, so that the memory of a page is
    /// bounded whatever the documents are. Only an empty page says that the scan is over.
    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord]

    /// The ids of the first documents of a scan after some that are skipped.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` for a damaged id.
    /// - Complexity: O(log *n*) in the documents of the database to skip live documents, however many they are.
    func ids(_ scan: DocumentScan, skipping skipped: Int, limit: Int) throws -> [DocumentID]

    /// How many documents a scan has.
    ///
    /// - Complexity: O(log *n*) in the documents of the database, however many the scan has.
    func count(_ scan: DocumentScan) throws -> Int

    /// The side record with a key.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` for one that can't be read, or `damagedDocument` for the content of a
    ///   revision.
    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord?

    /// The first side records of a scan.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` for one that can't be read.
    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord]
}

extension StorageReader {
    /// A document, or `nil`; with the winner's content if asked for.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for a damaged one.
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

    /// The content of a revision of a document, `nil` also for one that can't be read: for edits that replace it.
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

// MARK: - NotAtHand

/// The error of a read that must not wait and would have to: for a free reader, for a long document, or for other threads.
///
/// The caller repeats the work on a thread that may wait.
public struct NotAtHand: Error {
    /// Makes the error.
    public init() {}
}
