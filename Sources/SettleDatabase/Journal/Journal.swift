public import SettleCore
internal import SettlePlatform

/// The local operations that no peer has acknowledged yet, in two views.
///
///     save, save, delete ──┬─→ history    each operation with the content before and after
///                          └─→ pending    one combined change per document, attribute by attribute
///
/// An entry is written in the transaction of the operation itself, so neither exists without the other. It is
/// removed when a peer has acknowledged that revision or a descendant; an edit made during an upload stays
/// (SEMANTICS 156). Replicated revisions are not local operations. Settling a conflict is not one, either: it
/// replaces a document's operations with one entry that contains their remaining difference to the peers' side.
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
/// - ``undoAll()``
public struct Journal: Sendable {
    let database: Database
    let cache: PendingCache

    /// Operations in the order in which they happened.
    ///
    /// - Parameters:
    ///   - number: The entry number to start after.
    ///   - limit: The maximum number of entries; none if it is negative.
    /// - Returns: The entries.
    /// - Throws: ``DatabaseError`` if the storage fails.
    public func history(after number: Int64 = 0, limit: Int = .max) throws -> [JournalEntry] {
        try database.engine.snapshot { try $0.resolved($0.journalEntries(after: number, limit: max(limit, 0))) }
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
    public func history(of id: some DocumentIDConvertible) throws -> [JournalEntry] {
        let id = try id.ofDocument()
        return try database.engine.snapshot { try cache.entries(of: id, in: $0) }
    }

    /// The pending changes, in the order of the documents' first operations.
    ///
    /// Only ids and numbers of operations stay in memory, so this reads the journal and the documents it refers to.
    ///
    /// - Throws: ``DatabaseError`` if the storage fails.
    /// - Complexity: O(*n* log *m*) for *n* operations on *m* documents.
    public var pending: [PendingChange] {
        get throws { try pending(limit: .max) }
    }

    /// The first pending changes, in the order of ``pending``.
    ///
    /// - Parameter limit: The maximum number of changes.
    /// - Returns: The changes.
    /// - Throws: ``DatabaseError`` if the storage fails.
    /// - Complexity: O(*m* log *m*) in memory for *m* documents with operations, and reads the operations of those that are
    ///   returned.
    package func pending(limit: Int) throws -> [PendingChange] {
        try database.engine.snapshot { reader in
            var changes: [PendingChange] = []
            for id in cache.documents where changes.count < limit {
                if let change = Self.change(by: try cache.entries(of: id, in: reader)) { changes.append(change) }
            }
            return changes
        }
    }

    /// The pending change of one document; `nil` if the document has none.
    ///
    /// - Throws: ``DatabaseError`` if the storage fails.
    public func pending(of id: some DocumentIDConvertible) throws -> PendingChange? {
        Self.change(by: try history(of: id))
    }

    private static func change(by entries: [JournalEntry]) -> PendingChange? {
        guard var document = entries.first.map(PendingDocument.init) else { return nil }
        for entry in entries.dropFirst() { document.apply(entry) }
        return document.change
    }

    /// Whether the journal has no operations, not even ones that cancel each other out.
    public var isEmpty: Bool { cache.isEmpty }

    /// The number of operations.
    public var count: Int { cache.count }

    /// Observes the pending changes: first the current ones, then the new ones after each change of the journal.
    public func observePending() -> PendingObservation { PendingObservation(journal: self) }

    /// Waits until there is an operation; `false` if the database is closed or the task is cancelled.
    package func waitForOperation() async -> Bool {
        while !Task.isCancelled {
            let seen = cache.version
            if !isEmpty { return true }
            guard await cache.bell.wait(after: seen.number) else { return false }
        }
        return false
    }
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
    /// under the empty name. A document that will be deleted has no changes.
    ///
    /// - Parameter attribute: The attribute with the type, which is not included in the changes.
    /// - Returns: The changes of each document of each type, in the order in which attributes were first changed.
    /// - Throws: ``DatabaseError`` if the storage fails.
    /// - Complexity: O(*n* log *m*) for *n* pending documents of *m*.
    public func pendingByType(
        _ attribute: String = "type"
    ) throws -> [String: [DocumentID: [PendingChange.Attribute]]] {
        try database.snapshot {
            var types: [String: [DocumentID: [PendingChange.Attribute]]] = [:]
            for change in try pending {
                let attributes = change.attributes.filter { !$0.name.utf8.elementsEqual(attribute.utf8) }
                types[try type(of: change, attribute), default: [:]][change.documentID] = attributes
            }
            return types
        }
    }

    private func type(of change: PendingChange, _ member: String) throws -> String {
        if let document = try database.document(change.documentID) { return document[member]?.string ?? "" }
        return try history(of: change.documentID).last?.old?.body[member]?.string ?? ""
    }
}

/// The pending changes after each change of the journal, without end.
///
///     for try await changes in journal.observePending() {
///         badge.count = changes.count
///     }
///
/// ## Buffering
///
/// Nothing is buffered: a slow observer gets the current changes and misses intermediate states. It ends if the
/// database is closed or the task is cancelled.
public struct PendingObservation: AsyncSequence, Sendable {
    let journal: Journal

    /// Starts observing.
    public func makeAsyncIterator() -> Iterator { Iterator(journal: journal) }

    /// The position of one observer.
    public struct Iterator: AsyncIteratorProtocol {
        private let journal: Journal
        private var seen: UpdateSequence?

        init(journal: Journal) { self.journal = journal }

        /// Waits until the journal was changed since the last call, and returns the pending changes; `nil` if the
        /// database is closed or the task is cancelled. They may equal the last returned ones.
        ///
        /// - Throws: ``DatabaseError`` if the storage fails.
        public mutating func next() async throws -> [PendingChange]? {
            if Task.isCancelled { return nil }
            if let seen, !(await journal.cache.bell.wait(after: seen.number)) { return nil }
            seen = journal.cache.version
            let journal = journal
            while true {
                do { return try await journal.database.perform { _ in try journal.pending } } catch let error
                    as DatabaseError
                { guard try await journal.database.waitsOut(error) else { return nil } }
            }
        }
    }
}

// MARK: - Switch Journal

extension Database {
    static var journalSetting: String { "journal" }

    /// Switches the journal on or off while the database is open. ``DatabaseOptions/journal`` does the same when it
    /// is opened.
    ///
    ///     try database.setJournal(true)
    ///
    /// Operations are recorded from now on. Switching the journal off deletes its entries, and ends observations of
    /// pending changes; the documents stay. A ``Journal`` that was obtained before must not be used after it. Call
    /// it outside of transactions.
    ///
    /// - Parameter isOn: Whether to keep a journal; the current value changes nothing.
    /// - Throws: ``DatabaseError`` with code `invalid` if the storage does not support a journal, such as
    ///   PostgreSQL, and if the storage fails.
    public func setJournal(_ isOn: Bool) throws {
        let journal = capabilities.journal
        try Self.check(isOn, journal)
        // A journal that is switched on has no entries yet.
        let fresh = isOn ? PendingCache() : nil
        let before = Guarded<PendingCache?>(nil)
        do {
            let isChanged = try engine.commit { [pendingState] writer in
                guard (try writer.setting(Self.journalSetting) != nil) != isOn else { return false }
                try Self.store(isOn, journal, with: writer)
                // Later writes, even those in the same batch, read the new state here.
                let old = pendingState.withLock { state in
                    defer { state = fresh }
                    return state
                }
                before.withLock { $0 = old }
                return true
            }
            if isChanged { before.withLock(\.self)?.bell.end() }
        } catch {
            let old = before.withLock(\.self)
            pendingState.withLock { if $0 === fresh { $0 = old } }
            throw error
        }
    }

    /// Switches the journal on or off according to the options, or to the setting in the file if the options have
    /// none, and reads it.
    static func openJournal(
        _ isWanted: Bool?, _ engine: any StorageEngine, _ journal: (any JournalStorage)?
    ) throws -> PendingCache? {
        let isOn = try engine.read { try $0.setting(journalSetting) } != nil
        try check(isWanted ?? isOn, journal)
        if let isWanted, isWanted != isOn { try engine.commit { try store(isWanted, journal, with: $0) } }
        return isWanted ?? isOn ? try PendingCache(reading: engine) : nil
    }

    /// Writes the journal; `nil` if it is off.
    var journalRecorder: JournalRecorder? { pendingCache.map(journalRecorder(of:)) }

    /// Writes the journal with these pending changes.
    func journalRecorder(of cache: PendingCache) -> JournalRecorder {
        JournalRecorder(cache: cache, now: options.milliseconds)
    }

    private static func check(_ isWanted: Bool, _ journal: (any JournalStorage)?) throws {
        guard isWanted, journal == nil else { return }
        throw DatabaseError(
            .invalid, "this storage keeps no journal of local changes, which is a device's: open it without `journal`")
    }

    private static func store(
        _ isOn: Bool, _ journal: (any JournalStorage)?, with writer: any StorageWriter
    ) throws {
        try writer.setSetting(journalSetting, to: isOn ? "on" : nil)
        if !isOn { try journal?.removeJournal() }
    }
}
