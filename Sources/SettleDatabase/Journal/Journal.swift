public import RevisionTree

/// The local operations no peer has acknowledged yet, in two views.
///
///     save, save, delete ──┬─→ history    whole: each operation with the content before and after
///                          └─→ pending    as one change for each document, attribute by attribute
///
/// An entry is written in the transaction of the operation itself, so there is never one without the other. It leaves
/// when a peer has acknowledged that very revision, or one made on top of it; an edit made while an upload was on its way
/// stays (SEMANTICS 156). What replication brings is no local operation. Nor is settling a conflict: it makes one entry of a
/// document's operations, which is what is left of them on top of the peers' side.
///
/// The journal is switched on by ``DatabaseOptions/journal`` and costs nothing where it is off.
///
/// ## Topics
/// ### Looking
/// - ``history(after:limit:)``
/// - ``newest(_:)``
/// - ``pending``
/// - ``observePending()``
/// ### Taking back
/// - ``undo(_:)-(Int)``
/// - ``undo(_:)-(DocumentID)``
/// - ``undoAll()``
public struct Journal: Sendable {
    let database: Database
    let cache: PendingCache

    /// Operations in the order in which they happened, so many at the most.
    ///
    /// - Parameters:
    ///   - number: Where to go on: behind the entry of this number.
    ///   - limit: The most entries.
    /// - Returns: The entries.
    /// - Throws: ``DatabaseError`` of the storage.
    public func history(after number: Int64 = 0, limit: Int = .max) throws -> [JournalEntry] {
        try database.engine.snapshot { try $0.resolved($0.journalEntries(after: number, limit: limit)) }
    }

    /// The newest operations, in the order in which they happened, so many at the most.
    ///
    /// - Parameter limit: The most entries.
    /// - Returns: The entries, the newest one last.
    /// - Throws: ``DatabaseError`` of the storage.
    /// - Complexity: O(*k*) in the entries that are returned, however many there are.
    public func newest(_ limit: Int) throws -> [JournalEntry] {
        try database.engine.snapshot { try $0.resolved($0.newestJournalEntries(limit: max(limit, 0)).reversed()) }
    }

    /// The operations on one document, in the order in which they happened.
    public func history(of id: DocumentID) throws -> [JournalEntry] {
        try database.engine.snapshot { try cache.entries(of: id, in: $0) }
    }

    /// What is to be sent, in the order of the documents' first operations, as of the last commit; nothing is read for it.
    ///
    /// - Complexity: O(*n* log *n*) in documents with operations.
    public var pending: [PendingChange] { cache.changes().changes }

    /// What is to be sent of one document; `nil` for nothing.
    public func pending(of id: DocumentID) -> PendingChange? { cache.change(of: id) }

    /// Whether there is no operation, not even some that cancel each other out.
    public var isEmpty: Bool { cache.isEmpty }

    /// How many operations there are.
    public var count: Int { cache.count }

    /// Observes what is to be sent: first as it is, then each time it has changed.
    public func observePending() -> PendingObservation { PendingObservation(cache: cache) }
}

extension Database {
    /// The journal of local operations; `nil` where ``DatabaseOptions/journal`` is off.
    public var journal: Journal? { pendingCache.map { Journal(database: self, cache: $0) } }
}
