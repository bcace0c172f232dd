public import SettleCore

extension StorageReader {
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
