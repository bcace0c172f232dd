internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The log of created, changed and deleted databases, which is itself a database.
///
/// The log starts with the first request for it, and with an event `created` for each existing database. From then on it is
/// kept, also after a restart. Each kind of event of a database is one document, so the log grows with the number of databases
/// and not of writes.
///
/// `created` and `deleted` are written before the request is answered. `updated` is written within half a second, once for
/// any number of writes. A stopping server writes pending events. After a kill, the next start writes `updated` for all
/// databases, and the databases that were added to the folder or removed meanwhile.
final class DatabaseUpdates: Sendable {
    /// The name of the log's database, as in CouchDB.
    static let name = "_global_changes"

    private struct State {
        var log: Database?
        /// Changes that are not in the log yet.
        var changed: [String: Watched] = [:]
        /// Databases whose next commit is observed.
        var watched: [String: Watched] = [:]
    }

    private struct Watched: Sendable { weak let database: Database? }

    private let databases: DatabasePool
    private let warn: @Sendable (String) -> Void
    private let state = Guarded(State())
    /// Writes the log.
    private let queue = DispatchQueue(label: "settle.updates")

    init(_ databases: DatabasePool, warn: @escaping @Sendable (String) -> Void) {
        self.databases = databases
        self.warn = warn
        databases.onOpen { [weak self] in self?.watch($1, $0) }
    }

    /// Continues an existing log.
    ///
    /// - Throws: ``DatabaseError``.
    func resume() throws { if databases.contains(Self.name) { _ = try log() } }

    /// The log, which is created if it does not exist.
    ///
    /// - Throws: ``DatabaseError``.
    func log() throws -> Database {
        try queue.sync {
            if let log = state.withLock(\.log), !log.isClosed { return log }
            return try begin()
        }
    }

    /// Logs that a database was created.
    func created(_ name: String) {
        guard name != Self.name else { return attempt { _ = try log() } }
        queue.sync { note(.created, name) }
    }

    /// Logs that a database was deleted.
    func deleted(_ name: String) {
        guard name != Self.name else { return state.withLock { $0 = State() } }
        queue.sync {
            flush()
            note(.deleted, name)
            state.withLock { $0.watched[name] = nil }
        }
    }

    /// Writes pending events, and marks the log as complete.
    func stop() {
        queue.sync {
            flush()
            guard let log = state.withLock(\.log) else { return }
            attempt { try log.deleteLocalDocument(Self.running) }
            state.withLock { $0 = State() }
        }
    }

    /// How long changes of a database are collected, in milliseconds.
    private static let delay = 500
    /// A local document that exists while the server runs.
    private static let running = DocumentID(unchecked: "_local/running")
    /// How many revisions of an event are kept.
    private static let revisions = 10
}

extension DatabaseUpdates {
    /// Opens the log, and writes the events it has missed.
    private func begin() throws -> Database {
        do { try databases.create(Self.name) } catch let error as DatabaseError where error.code == .exists {}
        let log = try databases.open(Self.name)
        try log.setRevisionLimit(Self.revisions)
        let wasKilled = try log.localDocument(Self.running) != nil
        let names = try databases.names.read { $0 }.filter { $0 != Self.name }
        try write(missed(names, in: log), to: log)
        if wasKilled { try write(names.map { DatabaseEvent(.updated, $0) }, to: log) }
        try log.saveLocalDocument(Self.running, body: [:])
        state.withLock { $0.log = log }
        for (name, database) in databases.open { watch(database, name) }
        return log
    }

    /// The databases that were created and deleted while the log was not kept.
    private func missed(_ names: [String], in log: Database) throws -> [DatabaseEvent] {
        var latest: [String: DatabaseEvent.Kind] = [:]
        try log.forEachChange(in: SequenceRange()) { change in
            guard let event = DatabaseEvent(change.id), event.kind != .updated else { return true }
            latest[event.name] = event.kind
            return true
        }
        let there = Set(names)
        let gone = latest.filter { $0.value == .created && !there.contains($0.key) }.keys.sorted()
        return gone.map { DatabaseEvent(.deleted, $0) }
            + names.filter { latest[$0] != .created }.map { DatabaseEvent(.created, $0) }
    }

    /// Logs the next change of a database.
    private func watch(_ database: Database, _ name: String) {
        let isNew = state.withLock { state in
            guard state.log != nil, name != Self.name, state.watched[name]?.database !== database else { return false }
            state.watched[name] = Watched(database: database)
            return true
        }
        if isNew { attempt { watch(database, name, after: try database.lastSequence()) } }
    }

    private func watch(_ database: Database, _ name: String, after sequence: UpdateSequence) {
        _ = database.notify(after: sequence) { [weak self, weak database] isOpen in
            guard let self, let database, isOpen else { return }
            let isFirst = state.withLock { state in
                defer { state.changed[name] = Watched(database: database) }
                return state.changed.isEmpty
            }
            guard isFirst else { return }
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.delay)) { [weak self] in self?.flush() }
        }
    }

    /// Writes which databases were changed, and observes the next change of each.
    private func flush() {
        let (log, changed) = state.withLock { state in
            defer { state.changed = [:] }
            return (state.log, state.changed)
        }
        guard let log, !changed.isEmpty else { return }
        // Read before the event is written, because later changes are another event.
        let seen = changed.mapValues { try? $0.database?.lastSequence() }
        attempt { try write(changed.keys.sorted().map { DatabaseEvent(.updated, $0) }, to: log) }
        for (name, watched) in changed {
            guard let database = watched.database, case let sequence?? = seen[name] else { continue }
            watch(database, name, after: sequence)
        }
    }

    private func note(_ kind: DatabaseEvent.Kind, _ name: String) {
        guard let log = state.withLock(\.log) else { return }
        attempt { try write([DatabaseEvent(kind, name)], to: log) }
    }

    private func write(_ events: [DatabaseEvent], to log: Database) throws {
        let edits = try events.map { event in
            let winner = try log.record(of: event.id)?.tree.winner
            return DocumentEdit(
                id: event.id, parent: winner.flatMap { $0.isDeleted ? nil : $0.revision }, body: [:])
        }
        for outcome in try log.write(edits) { _ = try outcome.get() }
    }

    /// Event logging must not fail the operation; missing events are found at the next start.
    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch let error as DatabaseError where error.code == .closed {
            // The database was deleted.
        } catch { warn("an event of a database was not logged for _db_updates: \(error)") }
    }
}
