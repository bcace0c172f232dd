internal import SettleCore
internal import SettlePlatform

extension Database {
    /// The position of the newest change, 0 before the first.
    public func lastSequence() throws -> UpdateSequence { try engine.read { try $0.lastSequence } }

    /// The documents changed after a position, each once, in the order of their last changes.
    ///
    /// - Parameters:
    ///   - since: The position; 0 for all.
    ///   - limit: The maximum number of changes, which are all in memory; unlimited by default.
    ///   - descending: Whether the newest change comes first.
    ///   - style: The leaves that each change lists.
    ///   - includingDocuments: Whether each change includes the document.
    ///   - isIncluded: A filter; changes it rejects do not count towards the limit.
    /// - Returns: The changes.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`, or errors of the filter.
    /// - Complexity: O(*k*) in changes after the position.
    public func changes(
        since: UpdateSequence = 0, limit: Int? = nil, descending: Bool = false, style: Change.Style = .winner,
        includingDocuments: Bool = false, where isIncluded: (Change) throws -> Bool = { _ in true }
    ) throws -> [Change] {
        var changes: [Change] = []
        let range = SequenceRange(after: since, descending: descending)
        if let limit, limit <= 0 { return [] }
        // Without a snapshot, a document that changes meanwhile would be returned twice or not at all.
        try engine.snapshot { _ in
            try forEachChange(in: range, style: style, includingDocuments: includingDocuments) { change in
                if try isIncluded(change) { changes.append(change) }
                return changes.count < limit ?? .max
            }
        }
        return changes
    }

    /// Calls a closure for each document changed in a range, until it returns `false`.
    ///
    /// Memory is bounded: documents are read a page at a time. A document that changes meanwhile moves to the
    /// newest end. Going forward, it is returned there, perhaps a second time; going backward, it may be missed.
    /// Inside ``snapshot(_:)`` neither happens. The change of a damaged document has no ``Change/document``, or is
    /// left out if its revisions can't be read; ``DatabaseOptions/warn`` is called with its id.
    package func forEachChange(
        in range: SequenceRange, style: Change.Style = .winner, includingDocuments: Bool = false,
        _ body: (Change) throws -> Bool
    ) throws {
        var rest = range
        var size = PageSize(hasContents: includingDocuments)
        while true {
            let page = try engine.read {
                try $0.records(changedIn: rest, limit: size.count, withContent: includingDocuments)
            }
            size.learn(page)
            for record in noting(page) {
                guard let change = Change(record, style: style, origin: identity) else { continue }
                guard try body(change) else { return }
            }
            guard let last = page.last else { return }
            if range.descending {
                rest.through = UpdateSequence(last.sequence.number - 1)
            } else {
                rest.after = last.sequence
            }
        }
    }
}

// MARK: - Observe

extension Database {
    /// Observes the database: every document changed after a position, as it happens.
    ///
    /// - Parameters:
    ///   - since: The position to start after; the current one by default.
    ///   - style: The leaves that each change lists.
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
    /// For an invalid id, the observation throws ``DatabaseError`` with code `invalid` at its first element.
    public func observe(_ id: some DocumentIDConvertible) -> DocumentObservation {
        DocumentObservation(database: self, id: Result { try id.ofDocument() })
    }

    /// Waits until the database is closed or the task is cancelled.
    package func waitForClose() async { await changeBell.waitForEnd() }
}
