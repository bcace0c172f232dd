internal import SettleCore

extension Database {
    /// The conflict of a document, ready to be shown or settled; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - kinds: The kinds to look for; by default both.
    /// - Returns: The current conflict.
    /// - Throws: ``DatabaseError`` with code `invalid` for what can't be an id, `corrupt`, `inputOutput` or `closed`.
    /// - Complexity: O(*n* + *l*²) for a tree of *n* revisions with *l* leaves.
    public func conflict(
        of id: some DocumentIDConvertible, kinds: Set<ConflictKind> = Set(ConflictKind.allCases)
    ) throws -> Conflict? {
        let id = try id.ofDocument()
        return try engine.snapshot { reader in
            guard let record = try reader.record(of: id, withContent: true) else { return nil }
            return try conflict(in: record, kinds, reader)
        }
    }

    /// The conflict in a record.
    func conflict(
        in record: DocumentRecord, _ kinds: Set<ConflictKind>, beside peer: FormerState? = nil,
        _ reader: any StorageReader
    ) throws -> Conflict? {
        do {
            return try Conflict(record, concerns: kinds, origin: identity, beside: peer) { try reader.content(at: $0) }
        } catch let error as DatabaseError where error.code == .damagedDocument {
            throw DatabaseError.damaged(record.id, "a revision in conflict", cause: error)
        }
    }
}
