package import SettleDatabase

/// A source of answers to queries: a database, or the part of it and of its indexes that can be read without
/// waiting.
package protocol QuerySource: DocumentSource {
    /// The rows of an index of members.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - asStored: Whether they are read without an update.
    /// - Returns: The rows.
    /// - Throws: ``DatabaseError``; ``NotAtHand`` if they are not in use and the source must not wait.
    func rows(of index: QueryIndex, asStored: Bool) throws -> ViewIndex

    /// Runs a closure on one snapshot of an index.
    ///
    /// - Throws: Errors of the closure, ``DatabaseError``, or ``NotAtHand`` if reading would have to wait and the
    ///   source must not.
    func read<Result>(_ index: ViewIndex, _ body: (IndexReading) throws -> Result) throws -> Result
}

extension Database: QuerySource {
    package func rows(of index: QueryIndex, asStored: Bool) throws -> ViewIndex {
        try index.rows(in: self, asStored: asStored)
    }

    package func read<Result>(_ index: ViewIndex, _ body: (IndexReading) throws -> Result) throws -> Result {
        try index.read(body)
    }
}

extension PromptDatabase: QuerySource {
    package func rows(of index: QueryIndex, asStored: Bool) throws -> ViewIndex {
        guard let rows = known(IndexFolder.self)?.known(index.fileName) else { throw NotAtHand() }
        return rows
    }

    package func read<Result>(_ index: ViewIndex, _ body: (IndexReading) throws -> Result) throws -> Result {
        try index.readAtHand(body)
    }
}
