public import RevisionTree
public import SettleDatabase
internal import SettlePlatform

/// Works on a database offline and online: operations are kept in its journal, sent to a server in their order, and the
/// server compares each with what it has.
///
///     let session = try OfflineSession(database, server: CouchDBPeer(url))
///     session.start()
///     try database.save(milk, onConflict: .fail)            // sent at once, or when there is a network again
///     if let conflict = session.status.conflict {
///         try await session.replace(with: merged(conflict))
///         try await session.synchronize()
///     }
///
/// Where a ``Replicator`` keeps both sides of a conflict and goes on, a session never makes a branch: it stops at the first
/// operation the server refuses, in ``OfflineState/syncFailed``, and shows it as an ``OfflineConflict``. Then one may
/// ``discard()`` the operation, give it another result with ``replace(with:)``, or ``revert(_:)`` operations; and
/// synchronize again. Whatever is behind the refused operation waits, so what refers to a document that was refused
/// is not sent before it (SEMANTICS 167).
///
/// The server is Settle or any CouchDB; it need know nothing of sessions. A database has one session for a server, and what
/// the session knows lasts.
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
    let alarm = OfflineAlarm()
    /// How often in a row the server was not reached.
    let failures = Guarded(0)

    /// Makes a session, which sends nothing by itself until it is started.
    ///
    /// - Parameters:
    ///   - database: A database with a journal.
    ///   - server: The server's database; it must exist.
    ///   - options: How to work.
    /// - Throws: ``DatabaseError`` with code `invalid` for a database without a journal; of the storage.
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
        let machine = OfflineMachine(
            fetchesAfterPush: options.fetchesAfterPush, lastSyncDate: records.lastSyncDate,
            isOnline: options.startsOnline)
        shared = Guarded(Shared(machine: machine, records: records))
        if let warning = server.warning { database.warn(warning) }
    }

    deinit { shared.withLock(\.watch)?.cancel() }

    /// How it is doing.
    public var status: OfflineStatus { shared.withLock(\.machine.status) }

    /// How it is doing, from now on: first the present status, then each new one. Who reads slowly sees the newest.
    public var statuses: AsyncStream<OfflineStatus> { broadcast.listen(first: status) }

    /// Whether it is offline because somebody wanted so.
    var wantsOffline: Bool { shared.withLock(\.machine.wantsOffline) }

    /// Goes online: sends what is in the journal, and fetches what others changed.
    ///
    /// - Returns: How that went: `online`, `syncFailed` at the first operation that was refused, or `offline` where the
    ///   server is not reached.
    @discardableResult
    public func goOnline() async throws -> OfflineStatus { try await handle(.goOnline) }

    /// Synchronizes, also after a conflict was decided; the same as ``goOnline()``.
    @discardableResult
    public func synchronize() async throws -> OfflineStatus { try await goOnline() }

    /// Tries again what was refused; the same as ``goOnline()``.
    @discardableResult
    public func retry() async throws -> OfflineStatus { try await goOnline() }

    /// Goes offline, and stays so until ``goOnline()``. A call to the server that is on its way is given up; what the server
    /// made of it shows when it is tried again. No document changes by it (SEMANTICS 173).
    public func goOffline() async {
        _ = tell(.goOffline)
        work.cancel()
        _ = try? await work.run {}
    }

    /// Fetches what others changed, without sending anything. Documents with operations stay as they are.
    ///
    /// - Throws: ``PeerError`` when the server can't be asked; ``DatabaseError`` of the storage.
    public func fetch() async throws {
        try await work.run { [self] in
            let time = try await fetchChanges()
            _ = tell(.fetched(at: time))
            try remember { _ in }
        }
    }

    /// Takes the refused operation off the journal; the document gets the content it had before it, not the server's, which
    /// the next synchronization brings (SEMANTICS 181). Of a create all operations on the document go.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` when nothing is refused.
    public func discard() async throws {
        try await decide { [self] conflict in
            if conflict.operation == .create {
                try journal.undo(conflict.documentID)
            } else {
                _ = try journal.revise(conflict.number, of: conflict.documentID, to: conflict.old, isKept: false)
            }
            try remember { $0.seen[conflict.documentID.string] = nil }
        }
    }

    /// Gives the refused operation another result, made in the knowledge of the server's state: that is what the next
    /// synchronization puts it on, unless the server has changed again (SEMANTICS 183–186).
    ///
    /// - Parameter body: What the document shall be; `nil` to delete it.
    /// - Throws: ``DatabaseError`` with code `notFound` when nothing is refused, or the operation was undone meanwhile; of the
    ///   storage, and `refused` by a validation.
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
                records.seen[conflict.documentID.string] = OfflineRecords.Seen(
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
            _ = tell(.decided)
        }
    }

    /// Takes the newest operations back, the last one first; see ``Journal/undo(_:)-(Int)``. The server is not asked.
    @discardableResult
    public func revert(_ count: Int = 1) async throws -> [JournalEntry] {
        try await reverting { try $0.undo(count) }
    }

    /// Takes all operations on one document back, the last one first.
    @discardableResult
    public func revert(_ id: DocumentID) async throws -> [JournalEntry] { try await reverting { try $0.undo(id) } }

    /// Takes all operations back, the last one first.
    @discardableResult
    public func revertAll() async throws -> [JournalEntry] { try await reverting { try $0.undoAll() } }

    private func reverting(
        _ body: @escaping @Sendable (Journal) throws -> [JournalEntry]
    ) async throws -> [JournalEntry] {
        try await work.run { [self] in
            let reverted = try await database.perform { [journal] database in
                try database.transaction { try body(journal) }
            }
            for entry in reverted { try remember { $0.seen[entry.documentID.string] = nil } }
            if let conflict = status.conflict, reverted.contains(where: { $0.number == conflict.number }) {
                _ = tell(.decided)
            }
            return reverted
        }
    }

    /// Erases **all documents** of this database and all operations that were not sent, here and for good; the server keeps
    /// its own, and the next synchronization brings them (SEMANTICS 196).
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
            _ = tell(.erased)
        }
    }

    /// Makes a document. Where the server makes ids, this one has a temporary one, `t_1`, until it is sent; then it has the
    /// server's, in the journal and in documents with operations that refer to it too: as a whole string, anywhere.
    ///
    /// - Throws: ``DatabaseError`` as ``Database/save(_:onConflict:)`` does.
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

    /// An id in 32 hexadecimal digits, as CouchDB makes them.
    private static func randomID() -> String { SecureRandom.hexadecimal() }

    // MARK: What the parts of the session share

    /// What it remembers.
    var records: OfflineRecords { shared.withLock(\.records) }

    /// Runs a transaction that may change what the session remembers; where it is undone, so is that.
    func recording<Value>(_ body: () throws -> Value) throws -> Value {
        try database.transaction {
            // Whoever is in a transaction of the database is the only one.
            let before = records
            do { return try body() } catch {
                shared.withLock { $0.records = before }
                throw error
            }
        }
    }

    /// Changes what it remembers, for good.
    func remember(_ change: (inout OfflineRecords) -> Void) throws {
        let body = shared.withLock { shared in
            change(&shared.records)
            shared.records.lastSyncDate = shared.machine.status.lastSyncDate
            return shared.records.json
        }
        try database.saveLocalDocument(recordsID, body: DocumentBody(body))
    }

    /// Tells what happened, and everybody who listens; returns what to do.
    func tell(_ event: OfflineMachine.Event) -> OfflineMachine.Action? {
        let (action, status, isOther) = shared.withLock { shared in
            let before = shared.machine.status.state
            let action = shared.machine.handle(event)
            return (action, shared.machine.status, before != shared.machine.status.state)
        }
        broadcast.send(status)
        if isOther { alarm.ring() }
        return action
    }

    /// Tells what happened and does what there is to do then, until there is nothing.
    @discardableResult
    func handle(_ event: OfflineMachine.Event) async throws -> OfflineStatus {
        try await work.run { [self] in
            var action = tell(event)
            do {
                while let next = action { action = tell(try await perform(next)) }
            } catch {
                // Nobody is at it any more, and the next one has to be able to begin.
                let name = server.peer.name
                let failure = (error as? DatabaseError).map { PeerError($0, of: name) } ?? PeerError(error, at: name)
                _ = tell(.failed(failure))
                throw error
            }
            try remember { _ in }
            return status
        }
    }

    /// Keeps the task that watches; returns whether there was none.
    func keepWatch(_ make: () -> Task<Void, Never>) {
        shared.withLock { shared in
            if shared.watch == nil { shared.watch = make() }
        }
    }

    /// Ends the task that watches, and waits for it.
    func endWatch() async {
        let watch = shared.withLock { shared in
            defer { shared.watch = nil }
            return shared.watch
        }
        watch?.cancel()
        await watch?.value
    }
}
