public import RevisionTree

extension Database {
    /// Observes the database: every document changed after a position, as it happens.
    ///
    /// - Parameters:
    ///   - since: Where to begin; from now on unless given.
    ///   - style: Which leaves each change tells of.
    ///   - includingDocuments: Whether each change holds the document.
    ///   - isIncluded: Only changes it accepts are given out.
    /// - Returns: The changes, without end.
    /// - Throws: ``DatabaseError`` when the present position can't be read.
    public func observe(
        since: UpdateSequence? = nil, style: Change.Style = .winner, includingDocuments: Bool = false,
        where isIncluded: @escaping @Sendable (Change) -> Bool = { _ in true }
    ) throws -> ChangeObservation {
        ChangeObservation(
            database: self, since: try since ?? lastSequence(), style: style,
            includingDocuments: includingDocuments, isIncluded: isIncluded)
    }

    /// Observes one document: first as it is, then each time its winner is another.
    public func observe(_ id: DocumentID) -> DocumentObservation { DocumentObservation(database: self, id: id) }
}
