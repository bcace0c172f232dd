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
/// databases, and the databases that were added to the folder or removed meanwhile; the server answers other requests while
/// it does that.
final class DatabaseUpdates: Sendable {
    /// The name of the log's database, as in CouchDB.
    static let name = "_global_changes"

    private struct State {
        var log: Database?
        /// Whether events are collected: from the start of a server whose log exists, which it opens later.
        var isKept = false
        /// Changes that are not in the log yet.
        var changed: [String: WatchedDatabases.Watched] = [:]
        /// Databases whose next commit is observed.
        var watched = WatchedDatabases()
        /// When events were last written.
        var written = DispatchTime(uptimeNanoseconds: 0)
        /// Databases that get an event after a kill.
        var doubtful: ArraySlice<String> = []
    }

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

    /// Continues an existing log, without waiting until it has the events it has missed.
    ///
    /// - Throws: ``DatabaseError``.
    func resume() throws {
        guard databases.contains(Self.name) else { return }
        let (log, wasKilled) = try open()
        state.withLock { $0.isKept = true }
        queue.async { [self] in attempt { try begin(log, wasKilled: wasKilled) } }
    }

    /// The log, which is created if it does not exist.
    ///
    /// - Throws: ``DatabaseError``.
    func log() throws -> Database {
        try queue.sync {
            if let log = state.withLock(\.log), !log.isClosed { return log }
            let (log, wasKilled) = try open()
            try begin(log, wasKilled: wasKilled)
            return log
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
            state.withLock { $0.watched.remove(name) }
        }
    }

    /// Writes pending events, and marks the log as complete.
    func stop() {
        queue.sync {
            flush()
            let (log, isWhole) = state.withLock { ($0.log, $0.doubtful.isEmpty) }
            guard let log else { return }
            if isWhole { attempt { try log.deleteLocalDocument(Self.running) } }
            state.withLock { $0 = State() }
        }
    }

    /// How long changes of a database are collected after the last were written, in milliseconds.
    private static let delay = 500
    /// How many events of databases that may have changed before a kill are written at once.
    private static let doubtfulAtOnce = 200
    /// A local document that exists while the server runs.
    private static let running = DocumentID(unchecked: "_local/running")
    /// How many missed events are written at once.
    private static let missedAtOnce = 1000
    /// How many revisions of an event are kept.
    private static let revisions = 10
}

extension DatabaseUpdates {
    /// Opens the log, or creates it, and marks it as incomplete until the server stops.
    private func open() throws -> (log: Database, wasKilled: Bool) {
        do { try databases.create(Self.name) } catch let error as DatabaseError where error.code == .exists {}
        let log = try databases.open(Self.name)
        try log.setRevisionLimit(Self.revisions)
        let wasKilled = try log.localDocument(Self.running) != nil
        if !wasKilled { try log.saveLocalDocument(Self.running, body: [:]) }
        return (log, wasKilled)
    }

    /// Writes the events that a log has missed, and those of open databases from now on.
    private func begin(_ log: Database, wasKilled: Bool) throws {
        let names = try databases.names.read { $0 }.filter { $0 != Self.name }
        var missed = try missed(names, in: log)[...]
        while !missed.isEmpty {
            try write(Array(missed.prefix(Self.missedAtOnce)), to: log)
            missed = missed.dropFirst(Self.missedAtOnce)
        }
        state.withLock { state in
            (state.log, state.isKept) = (log, true)
            if wasKilled { state.doubtful = names[...] }
        }
        for (name, database) in databases.open { watch(database, name) }
        if wasKilled { writeDoubtful() }
    }

    /// Writes an event of some databases that may have changed before a kill; those of the others when the queue is free again.
    private func writeDoubtful() {
        let (log, names) = state.withLock { state in
            let names = Array(state.doubtful.prefix(Self.doubtfulAtOnce))
            return (state.log, names)
        }
        guard let log, !names.isEmpty else { return }
        attempt {
            try write(names.filter(databases.contains).map { DatabaseEvent(.updated, $0) }, to: log)
            state.withLock { $0.doubtful = $0.doubtful.dropFirst(names.count) }
            queue.async { [weak self] in self?.writeDoubtful() }
        }
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
            guard state.isKept, name != Self.name else { return false }
            return state.watched.add(database, name)
        }
        if isNew { attempt { watch(database, name, after: try Self.newest(of: database)) } }
    }

    /// The sequence of the newest commit, which is usually known without reading.
    private static func newest(of database: Database) throws -> UpdateSequence {
        if let commit = database.newestCommit, !database.isClosed { return commit.sequence }
        return try database.lastSequence()
    }

    private func watch(_ database: Database, _ name: String, after sequence: UpdateSequence) {
        _ = database.notify(after: sequence) { [weak self, weak database] isOpen in
            guard let self, let database, isOpen else { return }
            let due = state.withLock { state -> DispatchTime? in
                defer { state.changed[name] = WatchedDatabases.Watched(database: database) }
                return state.changed.isEmpty ? state.written + .milliseconds(Self.delay) : nil
            }
            guard let due else { return }
            queue.asyncAfter(deadline: max(due, .now())) { [weak self] in self?.flush() }
        }
    }

    /// Writes which databases were changed, and observes the next change of each.
    private func flush() {
        let (log, changed) = state.withLock { state in
            defer { (state.changed, state.written) = ([:], .now()) }
            return (state.log, state.changed)
        }
        guard let log, !changed.isEmpty else { return }
        // Read before the event is written, because later changes are another event.
        let seen = changed.mapValues { try? $0.database.map(Self.newest) }
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
