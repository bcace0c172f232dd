public import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// Works on a database offline and online: operations are recorded in its journal and sent to a server in order, and
/// the server compares each with its own state.
///
///     let session = try OfflineSession(database, server: CouchDBPeer(url))
///     session.start()
///     try database.save(milk, onConflict: .fail)            // sent at once, or when there is a network again
///     if let conflict = session.status.conflict {
///         try await session.replace(with: merged(conflict))
///         try await session.goOnline()
///     }
///
/// A ``OneWayReplicator`` keeps both sides of a conflict and continues. A session never creates a branch: it stops at the
/// first operation that the server refuses, in ``OfflineState/syncFailed``, and shows it as an ``OfflineConflict``.
/// Then ``discard()`` the operation, give it another result with ``replace(with:)``, or ``revert(_:)-(Int)`` operations, and
/// call ``goOnline()`` again. Operations after the refused one wait, so a reference to a refused document is not sent before
/// the document (SEMANTICS 167).
///
/// The server is Settle or any CouchDB; it needs no support for sessions. A database has one session per server, and
/// the session's state is persistent.
///
/// ## Topics
/// ### Going on and off
/// - ``goOnline()``
/// - ``goOffline()``
/// - ``start()``
/// - ``networkChanged()``
/// ### Deciding
/// - ``discard()``
/// - ``replace(with:)``
/// - ``revert(_:)-(Int)``
/// - ``eraseLocal()``
public final class OfflineSession: Sendable {
    private struct Shared {
        var machine: OfflineMachine
        var records: OfflineRecords
        var watch: Task<Void, Never>?
        /// How often the app has asked to be offline.
        var departures = 0
    }

    /// The database whose journal is sent.
    public let database: Database
    let journal: Journal
    let server: OfflineServer
    let options: OfflineSessionOptions
    private let shared: Guarded<Shared>
    private let broadcast = Broadcast<OfflineStatus>(buffered: 1)
    private let work = OfflineWork()
    private let recordsID: DocumentID
    /// Rings when there may be something to do.
    let bell = Bell()
    /// The number of consecutive failures to reach the server.
    let failures = Guarded(0)

    /// Creates a session, which sends nothing automatically until it is started.
    ///
    /// - Parameters:
    ///   - database: A database with a journal.
    ///   - server: The server's database; it must exist.
    ///   - options: The options.
    /// - Throws: ``DatabaseError`` with code `invalid` for a database without a journal, or when the storage fails.
    public init(
        _ database: Database, server: CouchDBPeer, options: OfflineSessionOptions = OfflineSessionOptions()
    ) throws {
        guard let journal = database.journal else {
            throw DatabaseError(
                .invalid, "a session needs a journal: open the database with DatabaseOptions.journal = true")
        }
        self.database = database
        self.journal = journal
        self.server = OfflineServer(peer: server)
        self.options = options
        recordsID = try DocumentID(validating: "_local/offline-session-" + PercentCoding.encode(server.name))
        let records = try database.localDocument(recordsID).map { OfflineRecords($0.body.json) } ?? OfflineRecords()
        // A new operation must not be taken for one that was undone.
        journal.reserveNumbers(through: records.lastNumber)
        let machine = OfflineMachine(
            fetchesAfterPush: options.fetchesAfterPush, lastSyncDate: records.lastSyncDate,
            isOnline: options.startsOnline)
        shared = Guarded(Shared(machine: machine, records: records))
        if let warning = server.warning { database.warn(warning, in: .replication) }
    }

    deinit { shared.withLock(\.watch)?.cancel() }

    /// The current status.
    public var status: OfflineStatus { shared.withLock(\.machine.status) }

    /// The current status and then each change. A slow reader gets the newest.
    public var statuses: AsyncStream<OfflineStatus> {
        // Under the lock, so that no change is missed or comes before the current status.
        shared.withLock { broadcast.listen(first: $0.machine.status) }
    }

    /// Whether the app has asked to be offline.
    var wantsOffline: Bool { shared.withLock(\.machine.wantsOffline) }

    /// Goes online, or synchronizes again, for example after a conflict was resolved: sends the operations in the
    /// journal, and fetches the changes of other clients.
    ///
    /// - Returns: The resulting status: `online`, `syncFailed` if an operation was refused, or `offline` if the
    ///   server can't be reached.
    /// - Throws: ``DatabaseError`` if the storage fails. If the database is suspended or in use, the session is
    ///   then `offline`, and a started one tries again. `CancellationError` if ``goOffline()`` was called before
    ///   its turn came.
    @discardableResult
    public func goOnline() async throws -> OfflineStatus { try await handle(.goOnline) }

    /// Goes offline until ``goOnline()`` is called. A running call is cancelled; its next attempt finds out whether
    /// the server executed it. A `goOnline()` that waits for its turn does nothing. No document changes
    /// (SEMANTICS 173).
    public func goOffline() async {
        _ = apply(.goOffline)
        work.cancel()
        _ = try? await work.run {}
    }

    /// Fetches the changes of other clients, without sending anything. Documents with pending operations stay
    /// unchanged.
    ///
    /// - Throws: ``PeerError`` if the server can't be reached; ``DatabaseError`` if the storage fails.
    public func fetch() async throws {
        try await work.run { [self] in
            let time = try await fetchChanges()
            _ = apply(.fetched(at: time))
            try remember { _ in }
        }
    }

    /// Removes the refused operation from the journal. The document gets its previous local content, not the
    /// server's, which the next synchronization fetches (SEMANTICS 181). If the operation is a create, all
    /// operations on the document are removed.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` if no operation is refused.
    public func discard() async throws {
        try await decide { [self] conflict in
            if conflict.operation == .create {
                try journal.undo(conflict.documentID)
            } else {
                _ = try journal.revise(conflict.number, of: conflict.documentID, to: conflict.old, isKept: false)
            }
            try remember { $0.seen[conflict.documentID] = nil }
        }
    }

    /// Replaces the refused operation's result, based on the server's state. The next synchronization sends it on
    /// top of that state, unless the server has changed again (SEMANTICS 183–186).
    ///
    /// - Parameter body: The document's new content; `nil` to delete it.
    /// - Throws: ``DatabaseError`` with code `notFound` if no operation is refused or it was undone meanwhile, with
    ///   `refused` by a validation, or if the storage fails.
    public func replace(with body: DocumentBody?) async throws {
        try await decide { [self] conflict in
            let content = body.map { RevisionContent(body: $0, attachments: conflict.new?.attachments ?? []) }
            guard try journal.revise(conflict.number, of: conflict.documentID, to: content, isKept: true) else {
                throw DatabaseError(
                    .notFound,
                    "the refused operation on \"\(conflict.documentID)\" was undone meanwhile; edit the document instead"
                )
            }
            try remember { records in
                records.seen[conflict.documentID] = OfflineRecords.Seen(
                    number: conflict.number, history: conflict.serverHistory)
            }
        }
    }

    private func decide(_ body: @escaping @Sendable (OfflineConflict) throws -> Void) async throws {
        try await work.run { [self] in
            guard let conflict = status.conflict else {
                throw DatabaseError(.notFound, "no operation is refused; there is nothing to decide")
            }
            try await database.perform { [self] _ in try recording { try body(conflict) } }
            _ = apply(.decided)
        }
    }

    /// Undoes the newest operations, last one first; see ``Journal/undo(_:)-(Int)``. The server is not contacted.
    /// If the response to an undone create was lost, the next synchronization deletes the document there, too.
    @discardableResult
    public func revert(_ count: Int = 1) async throws -> [JournalEntry] {
        try await reverting { try $0.undo(count) }
    }

    /// Undoes all operations on one document, last one first.
    @discardableResult
    public func revert(_ id: DocumentID) async throws -> [JournalEntry] { try await reverting { try $0.undo(id) } }

    /// Undoes all operations, last one first.
    @discardableResult
    public func revertAll() async throws -> [JournalEntry] { try await reverting { try $0.undoAll() } }

    private func reverting(
        _ body: @escaping @Sendable (Journal) throws -> [JournalEntry]
    ) async throws -> [JournalEntry] {
        try await work.run { [self] in
            let reverted = try await database.perform { [journal] database in
                try database.transaction { try body(journal) }
            }
            for entry in reverted { try remember { $0.seen[entry.documentID] = nil } }
            if let conflict = status.conflict, reverted.contains(where: { $0.number == conflict.number }) {
                _ = apply(.decided)
            }
            return reverted
        }
    }

    /// Permanently erases **all documents** of this database, and all operations that were not sent. The server
    /// keeps its documents, and the next synchronization fetches them (SEMANTICS 196).
    public func eraseLocal() async throws {
        try await work.run { [self] in
            try await database.perform { [recordsID] database in
                try database.transaction {
                    while case let page = try database.records(in: DocumentRange(), limit: 500, withContent: false),
                        !page.isEmpty
                    { for record in page { try database.purge(record.id) } }
                    try database.deleteLocalDocument(recordsID)
                }
            }
            shared.withLock { $0.records = OfflineRecords() }
            _ = apply(.erased)
        }
    }

    /// Creates a document. If the server creates ids, the document has a temporary one, `t_1`, until it is sent.
    /// Then the server's id replaces the temporary one in the journal, and wherever a document with operations
    /// refers to it by a whole string.
    ///
    /// - Throws: The errors of saving a document: ``DatabaseError``.
    public func create(_ body: DocumentBody) throws -> Document {
        try recording {
            guard options.identifiers == .server else {
                let id = try DocumentID(validating: Self.randomID())
                return try database.save(Document(id: id, body: body), onConflict: .fail)
            }
            let number = shared.withLock(\.records.temporaryIDs) + 1
            let id = try DocumentID(validating: "t_\(number)")
            let saved = try database.save(Document(id: id, body: body), onConflict: .fail)
            try remember { records in
                records.temporaryIDs = number
                records.temporaries.insert(id.string)
            }
            return saved
        }
    }

    /// An id of 32 hexadecimal digits, as CouchDB generates them.
    private static func randomID() -> String { SecureRandom.hexadecimal() }

    // MARK: Shared by the parts of the session

    /// The persistent state.
    var records: OfflineRecords { shared.withLock(\.records) }

    /// Runs a transaction that may change the persistent state. A rollback restores that state too.
    func recording<Value>(_ body: () throws -> Value) throws -> Value {
        try database.transaction {
            // Transactions of the database are exclusive, so no other code changes the records meanwhile.
            let before = records
            do { return try body() } catch {
                shared.withLock { $0.records = before }
                throw error
            }
        }
    }

    /// Changes the persistent state and stores it.
    func remember(_ change: (inout OfflineRecords) -> Void) throws {
        let body = shared.withLock { shared in
            change(&shared.records)
            shared.records.lastSyncDate = shared.machine.status.lastSyncDate
            return shared.records.json
        }
        try database.saveLocalDocument(recordsID, body: DocumentBody(body))
    }

    /// Handles an event and notifies listeners; returns the next action.
    func apply(_ event: OfflineMachine.Event) -> OfflineMachine.Action? {
        let (action, isOther) = shared.withLock { advance(&$0, by: event) }
        if isOther { bell.ring() }
        return action
    }

    /// Handles the first event of a job that may have waited for its turn.
    ///
    /// - Throws: `CancellationError` if the app has asked to be offline since, so that the session stays offline.
    private func apply(_ event: OfflineMachine.Event, after departures: Int) throws -> OfflineMachine.Action? {
        let (action, isOther) = try shared.withLock { shared in
            guard shared.departures == departures else { throw CancellationError() }
            return advance(&shared, by: event)
        }
        if isOther { bell.ring() }
        return action
    }

    /// Handles an event and sends the status, under the lock, so that the newest status comes last.
    private func advance(
        _ shared: inout Shared, by event: OfflineMachine.Event
    ) -> (action: OfflineMachine.Action?, isOther: Bool) {
        let before = shared.machine.status.state
        if case .goOffline = event { shared.departures += 1 }
        let action = shared.machine.handle(event)
        broadcast.send(shared.machine.status)
        return (action, before != shared.machine.status.state)
    }

    /// Handles an event and performs the resulting actions.
    @discardableResult
    func handle(_ event: OfflineMachine.Event) async throws -> OfflineStatus {
        let departures = shared.withLock(\.departures)
        return try await work.run { [self] in
            var action = try apply(event, after: departures)
            do {
                while let next = action { action = apply(try await perform(next)) }
            } catch {
                // Ends the synchronization, so that the next one can start.
                _ = apply(failed(error))
                throw error
            }
            try remember { _ in }
            return status
        }
    }

    /// The event for an error of a synchronization. A suspended or busy database works again later, like a server
    /// that can't be reached; any other error would repeat.
    private func failed(_ error: any Error) -> OfflineMachine.Event {
        let name = server.peer.name
        guard let error = error as? DatabaseError else { return .failed(PeerError(error, at: name)) }
        let failure = PeerError(error, of: name)
        return failure.isTransient ? .unreachable(failure) : .failed(failure)
    }

    /// Keeps the watching task, unless there is one already.
    func keepWatch(_ make: () -> Task<Void, Never>) {
        shared.withLock { shared in
            if shared.watch == nil { shared.watch = make() }
        }
    }

    /// Ends the watching task, and waits for it.
    func endWatch() async {
        let watch = shared.withLock { shared in
            defer { shared.watch = nil }
            return shared.watch
        }
        watch?.cancel()
        await watch?.value
    }
}

// MARK: - OfflineWork

/// Runs jobs one after the other, each in its own task, which can be cancelled.
final class OfflineWork: Sendable {
    private struct State {
        var tail: Task<Void, Never>?
        var next = 0
        var cancels: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Runs a job after all earlier ones, and waits for its result.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (task, number) = state.withLock { state in
            let before = state.tail
            let task = Task {
                await before?.value
                return try await body()
            }
            state.tail = Task { _ = await task.result }
            state.next += 1
            state.cancels[state.next] = { task.cancel() }
            return (task, state.next)
        }
        defer { _ = state.withLock { $0.cancels.removeValue(forKey: number) } }
        return try await task.value
    }

    /// Cancels the running job and all waiting ones.
    func cancel() {
        for cancel in state.withLock({ Array($0.cancels.values) }) { cancel() }
    }
}
