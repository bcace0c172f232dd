internal import SettleCore

extension Database {
    /// Observes the database: every document changed after a position, as it happens.
    ///
    /// - Parameters:
    ///   - since: The position to start after; the current one unless given.
    ///   - style: Which leaves each change lists.
    ///   - includingDocuments: Whether each change includes the document.
    ///   - isIncluded: A filter for changes.
    /// - Returns: The changes, without end.
    /// - Throws: ``DatabaseError`` if the current position can't be read.
    public func observe(
        since: UpdateSequence? = nil, style: Change.Style = .winner, includingDocuments: Bool = false,
        where isIncluded: @escaping @Sendable (Change) -> Bool = { _ in true }
    ) throws -> ChangeObservation {
        ChangeObservation(
            database: self, since: try since ?? lastSequence(), style: style,
            includingDocuments: includingDocuments, isIncluded: isIncluded)
    }

    /// Observes one document: first its current state, then each change of its winner.
    ///
    /// The observation of what can't be an id throws ``DatabaseError`` with code `invalid` at its first element.
    public func observe(_ id: some DocumentIDConvertible) -> DocumentObservation {
        DocumentObservation(database: self, id: Result { try id.ofDocument() })
    }

    /// Waits until the database is closed or the task is cancelled.
    package func waitForClose() async { await notifier.waitForEnd() }
}
