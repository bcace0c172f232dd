internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The log of what happens to the databases of a server, in a database of its own.
///
/// The log begins with the first request for it, and with an event `created` for each database that is there. From then on it is
/// kept, also after a restart. Each kind of event of a database is one document, so the log grows with the number of databases
/// and not with that of writes.
///
/// `created` and `deleted` are written before the request is answered. `updated` is written within half a second, once however
/// many writes there were. A server that stops writes what is left. One that was killed writes `updated` for all databases when
/// it starts again. What was added to the folder or removed from it meanwhile is noticed then, too.
final class DatabaseUpdates: Sendable {
    /// The name of the log's database, which is CouchDB's.
    static let name = "_global_changes"

    private struct State {
        var log: Database?
        /// What was changed and is not in the log yet.
        var changed: [String: Watched] = [:]
        /// Databases of which a notice was asked for.
        var watched: [String: Watched] = [:]
    }

    private struct Watched: Sendable { weak let database: Database? }

    private let databases: DatabasePool
    private let warn: @Sendable (String) -> Void
    private let state = Guarded(State())
    /// Where the log is written.
    private let queue = DispatchQueue(label: "settle.updates")

    init(_ databases: DatabasePool, warn: @escaping @Sendable (String) -> Void) {
        self.databases = databases
        self.warn = warn
        databases.onOpen { [weak self] in self?.watch($1, $0) }
    }

    /// Goes on with the log that was begun before, if there is one.
    ///
    /// - Throws: ``DatabaseError``.
    func resume() throws { if try databases.names().contains(Self.name) { _ = try log() } }

    /// The log, which is begun if there is none.
    ///
    /// - Throws: ``DatabaseError``.
    func log() throws -> Database {
        try queue.sync {
            if let log = state.withLock(\.log), !log.isClosed { return log }
            return try begin()
        }
    }

    /// A database was created.
    func created(_ name: String) {
        guard name != Self.name else { return attempt { _ = try log() } }
        queue.sync { note(.created, name) }
    }

    /// A database was deleted.
    func deleted(_ name: String) {
        guard name != Self.name else { return state.withLock { $0 = State() } }
        queue.sync {
            flush()
            note(.deleted, name)
            state.withLock { $0.watched[name] = nil }
        }
    }

    /// Writes what is left, and says that nothing is missing.
    func stop() {
        queue.sync {
            flush()
            guard let log = state.withLock(\.log) else { return }
            attempt { try log.deleteLocalDocument(Self.running) }
            state.withLock { $0 = State() }
        }
    }

    /// How long changes of a database are gathered, in milliseconds.
    private static let delay = 500
    /// A local document that is there while the server runs.
    private static let running = DocumentID(unchecked: "_local/running")
    /// How many revisions of an event are kept.
    private static let revisions = 10
}

extension DatabaseUpdates {
    /// Opens the log, and writes what happened while it was not kept.
    private func begin() throws -> Database {
        do { try databases.create(Self.name) } catch let error as DatabaseError where error.code == .exists {}
        let log = try databases.open(Self.name)
        try log.setRevisionLimit(Self.revisions)
        let wasKilled = try log.localDocument(Self.running) != nil
        let names = try databases.names().filter { $0 != Self.name }
        try write(missed(names, in: log), to: log)
        if wasKilled { try write(names.map { DatabaseEvent(.updated, $0) }, to: log) }
        try log.saveLocalDocument(Self.running, body: [:])
        state.withLock { $0.log = log }
        for (name, database) in databases.open { watch(database, name) }
        return log
    }

    /// What was created and deleted while the log was not kept.
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

    /// Has changes of a database noted, once.
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

    /// Writes which databases were changed, and has the next change of each noted.
    private func flush() {
        let (log, changed) = state.withLock { state in
            defer { state.changed = [:] }
            return (state.log, state.changed)
        }
        guard let log, !changed.isEmpty else { return }
        // Read before the event is written: what is changed meanwhile is another event.
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

    /// What happened to a database has happened, whether it can be logged or not; what is missing is found at the next start.
    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch let error as DatabaseError where error.code == .closed {
            // It was deleted.
        } catch { warn("an event of a database was not logged for _db_updates: \(error)") }
    }
}
