public import SettleCore

/// The local operations that no peer has acknowledged yet, in two views.
///
///     save, save, delete ──┬─→ history    each operation with the content before and after
///                          └─→ pending    one combined change per document, attribute by attribute
///
/// An entry is written in the transaction of the operation itself, so neither exists without the other. It is removed
/// when a peer has acknowledged that revision or a descendant; an edit made during an upload stays (SEMANTICS 156).
/// Replicated revisions are not local operations. Nor is settling a conflict: it replaces a document's operations with
/// one entry, for what remains of them on top of the peers' side.
///
/// ``DatabaseOptions/journal`` switches the journal on; it costs nothing if it is off.
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

    /// Operations in the order in which they happened.
    ///
    /// - Parameters:
    ///   - number: The entry number to start after.
    ///   - limit: The maximum number of entries.
    /// - Returns: The entries.
    /// - Throws: ``DatabaseError`` if the storage fails.
    public func history(after number: Int64 = 0, limit: Int = .max) throws -> [JournalEntry] {
        try database.engine.snapshot { try $0.resolved($0.journalEntries(after: number, limit: limit)) }
    }

    /// The newest operations, in the order in which they happened.
    ///
    /// - Parameter limit: The maximum number of entries.
    /// - Returns: The entries, the newest one last.
    /// - Throws: ``DatabaseError`` if the storage fails.
    /// - Complexity: O(*k*) in returned entries, however many there are.
    public func newest(_ limit: Int) throws -> [JournalEntry] {
        try database.engine.snapshot { try $0.resolved($0.newestJournalEntries(limit: max(limit, 0)).reversed()) }
    }

    /// The operations on one document, in the order in which they happened.
    public func history(of id: DocumentID) throws -> [JournalEntry] {
        try database.engine.snapshot { try cache.entries(of: id, in: $0) }
    }

    /// The pending changes, in the order of the documents' first operations, as of the last commit; they are kept in
    /// memory.
    ///
    /// - Complexity: O(*n* log *n*) in documents with operations.
    public var pending: [PendingChange] { cache.changes().changes }

    /// The pending change of one document; `nil` if there is none.
    public func pending(of id: DocumentID) -> PendingChange? { cache.change(of: id) }

    /// Whether there is no operation, not even operations that cancel each other out.
    public var isEmpty: Bool { cache.isEmpty }

    /// How many operations there are.
    public var count: Int { cache.count }

    /// Observes the pending changes: first the current ones, then the new ones after each change.
    public func observePending() -> PendingObservation { PendingObservation(cache: cache) }
}

extension Database {
    /// The journal of local operations; `nil` if ``DatabaseOptions/journal`` is off.
    public var journal: Journal? { pendingCache.map { Journal(database: self, cache: $0) } }
}

extension Journal {
    /// The pending changes, as type → id → changes of attributes (SEMANTICS 149).
    ///
    ///     let changes = try journal.pendingByType()
    ///     changes["envelopes"]?["17bb2c1c-313d-41a6-ae31-c90785155687"]      // [name = "A New Name"]
    ///
    /// The type is the document's current one, or the last one before it was deleted. Documents without a type are
    /// under the empty name. A document that is to be deleted has no changes.
    ///
    /// - Parameter member: The member with the type, which is not among the changes.
    /// - Returns: The changes of each document of each type, in the order in which attributes were first changed.
    /// - Throws: ``DatabaseError`` if the storage fails.
    /// - Complexity: O(*n* log *m*) for *n* pending documents of *m*; ``pending`` reads no documents.
    public func pendingByType(
        _ member: String = "type"
    ) throws -> [String: [DocumentID: [PendingChange.Attribute]]] {
        try database.snapshot {
            var types: [String: [DocumentID: [PendingChange.Attribute]]] = [:]
            for change in pending {
                let attributes = change.attributes.filter { !$0.name.utf8.elementsEqual(member.utf8) }
                types[try type(of: change, member), default: [:]][change.documentID] = attributes
            }
            return types
        }
    }

    private func type(of change: PendingChange, _ member: String) throws -> String {
        if let document = try database.document(change.documentID) { return document[member]?.string ?? "" }
        return try history(of: change.documentID).last?.old?.body[member]?.string ?? ""
    }
}

/// The pending changes, each time they have changed, without end.
///
///     for await changes in journal.observePending() {
///         badge.count = changes.count
///     }
///
/// ## Buffering
///
/// Nothing is buffered: a slow observer gets the current changes and misses intermediate states. It ends if the
/// database is closed or the task is cancelled.
public struct PendingObservation: AsyncSequence, Sendable {
    let cache: PendingCache

    /// Starts observing.
    public func makeAsyncIterator() -> Iterator { Iterator(cache: cache) }

    /// The position of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let cache: PendingCache
        private var seen: UpdateSequence?

        init(cache: PendingCache) { self.cache = cache }

        /// The pending changes; waits until they differ from the last ones returned. `nil` if the database is closed or
        /// the task is cancelled.
        public mutating func next() async -> [PendingChange]? {
            if Task.isCancelled { return nil }
            if let seen, !(await cache.notifier.wait(after: seen)) { return nil }
            let (changes, version) = cache.changes()
            seen = version
            return changes
        }
    }
}
