internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The log of created, changed and deleted databases, itself a database.
///
/// The log starts with the first request for it, and with an event `created` for each existing database. From then
/// on it is kept, also after a restart. Each kind of event of a database is one document, so the log's size depends
/// on the number of databases and not of writes.
///
/// `created` and `deleted` are written before the request is answered. `updated` is written within half a second,
/// once for any number of writes. A server writes its pending events before it stops. After a kill, the next start
/// writes `updated` for all databases, and events for the databases that were added to the folder or removed
/// meanwhile. The server answers other requests while it does that.
///
/// On a shared store each node logs its own writes, so each event is written once. A node also uses a log that
/// another node has made. One gap remains: when a node is killed, the changes of its last half second get no event
/// `updated`, because the other nodes don't know which databases it has changed. Databases that it has created or
/// deleted get their events when the next node starts.
final class DatabaseUpdates: Sendable {
    /// The name of the log's database, as in CouchDB.
    static let name = "_global_changes"

    private struct State {
        var log: Database?
        /// Whether events are collected. True from the start of a server whose log exists, even before the log is
        /// opened; on a shared store always, because another node may make the log.
        var isKept: Bool
        /// Changes that are not in the log yet.
        var changed: [String: WatchedDatabases.Watched] = [:]
        /// Databases whose next commit is observed.
        var watched = WatchedDatabases()
        /// The time at which events were last written.
        var written = DispatchTime(uptimeNanoseconds: 0)
        /// Databases that get an event because they may have changed before a kill.
        var doubtful: ArraySlice<String> = []
        /// The number of attempts to write to the log that have failed since the last success.
        var failures = 0
    }

    private let databases: DatabasePool
    private let warn: @Sendable (String) -> Void
    private let state: Guarded<State>
    /// The queue that writes to the log.
    private let queue = DispatchQueue(label: "settle.updates")

    init(_ databases: DatabasePool, warn: @escaping @Sendable (String) -> Void) {
        self.databases = databases
        self.warn = warn
        state = Guarded(State(isKept: databases.isShared))
        databases.onOpen { [weak self] in self?.watch($1, $0) }
    }

    /// Continues an existing log. Returns before the events that the log has missed are written.
    ///
    /// - Throws: ``DatabaseError``.
    func resume() throws {
        state.withLock { $0.isKept = databases.isShared }
        guard try databases.contains(Self.name) else { return }
        let (log, wasKilled) = try open()
        state.withLock { $0.isKept = true }
        queue.async { [self] in attempt { try begin(log, wasKilled: wasKilled) } }
    }

    /// The log, which is created if it does not exist.
    ///
    /// - Throws: ``DatabaseError``.
    func log() throws -> Database {
        try queue.sync {
            if let log = try currentLog()?.log, !log.isClosed { return log }
            let (log, wasKilled) = try open()
            try begin(log, wasKilled: wasKilled)
            return log
        }
    }

    /// Logs that a database was created.
    func created(_ name: String) {
        guard name == Self.name else { return queue.sync { record(.created, name) } }
        attempt { _ = try log() }
    }

    /// Logs that a database was deleted.
    func deleted(_ name: String) {
        guard name != Self.name else { return state.withLock { $0 = State(isKept: databases.isShared) } }
        queue.sync {
            flush()
            record(.deleted, name)
            // A change that could not be logged must not follow the deletion.
            let left = state.withLock { $0.changed[name]?.database }
            let isGone = left?.isClosed ?? true
            state.withLock { state in
                if isGone { state.changed[name] = nil }
                state.watched.remove(name)
            }
        }
    }

    /// Writes pending events, and marks the log as complete.
    func stop() {
        queue.sync {
            flush()
            let (log, isWhole) = state.withLock { state in
                defer { state = State(isKept: false) }
                // What could not be logged is found at the next start, as after a kill.
                return (state.log, state.doubtful.isEmpty && state.changed.isEmpty)
            }
            guard let log, isWhole, !databases.isShared else { return }
            attempt { try log.deleteLocalDocument(Self.running) }
        }
    }

    /// The time between two writes of changes to the log, in milliseconds.
    private static let delay = 500
    /// How often that time is doubled at most while writing fails.
    private static let doublings = 6
    /// The number of databases whose possible change before a kill is logged at once.
    private static let doubtfulAtOnce = 200
    /// A local document that exists while the server is running.
    private static let running = DocumentID(unchecked: "_local/running")
    /// The number of missed events that are written at once.
    private static let missedAtOnce = 1000
    /// The number of revisions that an event's document keeps.
    private static let revisions = 10
    /// The number of attempts to write an event that other nodes write too.
    private static let attempts = 10
}

extension DatabaseUpdates {
    /// Opens or creates the log, and marks it as incomplete until the server stops. A log on a shared store is not
    /// marked, because the other nodes keep running.
    private func open() throws -> (log: Database, wasKilled: Bool) {
        do { try databases.create(Self.name) } catch let error as DatabaseError where error.code == .exists {}
        let log = try databases.open(Self.name)
        try log.setRevisionLimit(Self.revisions)
        if databases.isShared { return (log, false) }
        let wasKilled = try log.localDocument(Self.running) != nil
        if !wasKilled { try log.saveLocalDocument(Self.running, body: [:]) }
        return (log, wasKilled)
    }

    /// Writes the events that a log has missed, and observes the open databases.
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

    /// Writes an event for some databases that may have changed before a kill, and schedules the rest.
    private func writeDoubtful() {
        let (log, names) = state.withLock { state in
            let names = Array(state.doubtful.prefix(Self.doubtfulAtOnce))
            return (state.log, names)
        }
        guard let log, !names.isEmpty else { return }
        let isDone = attempt {
            try write(names.filter { try databases.contains($0) }.map { DatabaseEvent(.updated, $0) }, to: log)
            state.withLock { $0.doubtful = $0.doubtful.dropFirst(names.count) }
            queue.async { [weak self] in self?.writeDoubtful() }
        }
        guard !isDone else { return }
        state.withLock { $0.failures += 1 }
        queue.asyncAfter(deadline: nextAttempt) { [weak self] in self?.writeDoubtful() }
    }

    /// The databases that were created or deleted while the log was not kept.
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
        guard isNew, let sequence = newest(of: database) else { return }
        watch(database, name, after: sequence)
    }

    /// The sequence of the newest commit that this server has to log; `nil` if the database was closed. It is known
    /// without reading, except inside a transaction of this thread.
    private func newest(of database: Database) -> UpdateSequence? {
        if databases.isShared { return database.newestOwnChange }
        guard !database.isClosed else { return nil }
        return database.newestCommit?.sequence ?? (try? database.lastSequence())
    }

    private func watch(_ database: Database, _ name: String, after sequence: UpdateSequence) {
        let notify = databases.isShared ? database.notifyOfOwnChange : database.notify
        _ = notify(sequence) { [weak self, weak database] isOpen in
            guard let self, let database, isOpen else { return }
            let due = state.withLock { state -> DispatchTime? in
                defer { state.changed[name] = WatchedDatabases.Watched(database: database, after: sequence) }
                return state.changed.isEmpty ? state.written + .milliseconds(Self.delay) : nil
            }
            guard let due else { return }
            queue.asyncAfter(deadline: max(due, .now())) { [weak self] in self?.flush() }
        }
    }

    /// Logs the changed databases, and observes the next change of each.
    private func flush() {
        let changed = state.withLock { state in
            defer { (state.changed, state.written) = ([:], .now()) }
            return state.changed
        }
        guard !changed.isEmpty else { return }
        // Read before the event is written: later changes are another event.
        let seen = changed.compactMapValues { $0.database.flatMap(newest) }
        // A commit that changes no document, such as a change of settings, is not an event, as in CouchDB.
        let moved = changed.filter { name, watched in
            guard let sequence = seen[name], let after = watched.after else { return true }
            return sequence > after
        }
        let isDone = attempt {
            guard !moved.isEmpty, let log = try currentLog()?.log else { return }
            try write(moved.keys.sorted().map { DatabaseEvent(.updated, $0) }, to: log)
        }
        state.withLock { $0.failures = isDone ? 0 : $0.failures + 1 }
        guard isDone else { return putOff(changed) }
        for (name, watched) in changed {
            guard let database = watched.database, let sequence = seen[name] else { continue }
            watch(database, name, after: sequence)
        }
    }

    /// Schedules changes to be written later.
    private func putOff(_ changed: [String: WatchedDatabases.Watched]) {
        state.withLock { $0.changed.merge(changed) { new, _ in new } }
        queue.asyncAfter(deadline: nextAttempt) { [weak self] in self?.flush() }
    }

    /// The time of the next attempt to write to the log; each failure doubles the pause, up to half a minute.
    private var nextAttempt: DispatchTime {
        .now() + .milliseconds(Self.delay << min(state.withLock(\.failures), Self.doublings))
    }

    private func record(_ kind: DatabaseEvent.Kind, _ name: String) {
        attempt {
            // A log that was opened just now has received the event as a missed one.
            guard let (log, isNew) = try currentLog(), !isNew else { return }
            try write([DatabaseEvent(kind, name)], to: log)
        }
    }

    /// The log to write to, if there is one. On a shared store another node may have made or deleted it.
    ///
    /// - Returns: The log, and whether it was opened just now and has received its missed events.
    private func currentLog() throws -> (log: Database, isNew: Bool)? {
        let log = state.withLock(\.log)
        guard databases.isShared else { return log.map { ($0, false) } }
        try databases.freshen([Self.name])
        if let log, !log.isClosed { return (log, false) }
        do {
            let log = try databases.open(Self.name)
            try begin(log, wasKilled: false)
            return (log, true)
        } catch let error as HTTPError where error.status == 404 {
            state.withLock { $0.log = nil }
            return nil
        }
    }

    private func write(_ events: [DatabaseEvent], to log: Database) throws {
        var left = events
        for attempt in 1...Self.attempts where !left.isEmpty {
            let edits = try left.map { event in
                let winner = try log.record(of: event.id)?.tree.winner
                return DocumentEdit(
                    id: event.id, parent: winner.flatMap { $0.isDeleted ? nil : $0.revision }, body: [:])
            }
            left = try zip(left, log.write(edits)).compactMap { event, outcome in
                // Another node has just written the same event, but this node's change may have come later.
                if case .failure(let error) = outcome, error.code == .conflict, attempt < Self.attempts { return event }
                _ = try outcome.get()
                return nil
            }
        }
    }

    /// Event logging must not fail the operation; missing events are found at the next start.
    ///
    /// - Returns: False if it failed, so that the caller may try again; true also if the database was deleted.
    @discardableResult
    private func attempt(_ body: () throws -> Void) -> Bool {
        do { try body() } catch let error as DatabaseError where error.code == .closed {
            // The database was deleted.
        } catch {
            warn("an event of a database was not logged for _db_updates: \(error)")
            return false
        }
        return true
    }
}

// MARK: - DatabaseEvent

/// A change of a database, as a document of the log of updates: its id is `created:notes`.
struct DatabaseEvent: Hashable, Sendable {
    enum Kind: String, Sendable { case created, updated, deleted }

    let kind: Kind
    let name: String

    init(_ kind: Kind, _ name: String) { (self.kind, self.name) = (kind, name) }

    /// Reads the id of a document; `nil` if it is not an event's.
    init?(_ id: DocumentID) {
        let parts = id.string.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
        self.init(kind, String(parts[1]))
    }

    var id: DocumentID { DocumentID(unchecked: "\(kind.rawValue):\(name)") }

    /// The event as a row of a feed.
    func row(_ sequence: String) -> [UInt8] {
        var bytes = Array("{\"db_name\":".utf8)
        JSONValue.append(name, to: &bytes)
        bytes += Array(",\"type\":\"\(kind.rawValue)\",\"seq\":\"\(sequence)\"}".utf8)
        return bytes
    }
}

// MARK: - WatchedDatabases

/// The databases whose next commit ``DatabaseUpdates`` observes, by name.
///
/// It keeps no database open. Closed databases are removed when the table has twice as many entries as there were
/// open databases at the last removal. So a server that has used many databases remembers only about as many as it
/// has open.
struct WatchedDatabases: Sendable {
    struct Watched: Sendable {
        weak let database: Database?
        /// The sequence whose next change is observed.
        var after: UpdateSequence?
    }

    private(set) var all: [String: Watched] = [:]
    /// The number of entries at which closed databases are removed.
    private var limit = 64

    /// Adds a database, and replaces another one of the same name; amortized O(1).
    ///
    /// - Returns: False if the database was in the table already.
    mutating func add(_ database: Database, _ name: String) -> Bool {
        guard all[name]?.database !== database else { return false }
        all[name] = Watched(database: database)
        if all.count > limit {
            all = all.filter { $0.value.database != nil }
            limit = max(64, 2 * all.count)
        }
        return true
    }

    mutating func remove(_ name: String) { all[name] = nil }
}
