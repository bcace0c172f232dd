internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform
internal import SettleViews

/// Keeps databases open, and closes the least recently used one when there are too many.
///
/// A database that the pool drops closes once no request uses it. The pool does no slow work while it holds its
/// lock.
final class DatabasePool: Sendable {
    private struct State {
        var open: [String: Entry] = [:]
        /// The names that had no database when the pool last looked.
        var missing: Set<String> = []
        var uses = 0
        var onOpen: (@Sendable (String, Database) -> Void)?
    }

    private struct Entry {
        let database: Database
        var lastUse: Int
        /// The number of users on threads that must not close the database.
        var keepers = 0
        /// Its security object, and the epoch of the settings from which it was read.
        var security: (object: SecurityObject, age: UInt64)?
    }

    private let store: any ServerStore
    private let limit: Int
    private let state = Guarded(State())
    /// The names of all databases.
    let names: any DatabaseNameList
    /// Whether other nodes use the databases too.
    let isShared: Bool
    private let closer = DatabaseCloser()

    private let restored: @Sendable (String) -> Void

    /// - Parameters:
    ///   - store: Stores the databases.
    ///   - limit: The maximum number of open databases.
    ///   - restored: Called with the name of a database that was replaced by a copy and has got a new suffix of
    ///     sequences.
    init(store: any ServerStore, limit: Int, restored: @escaping @Sendable (String) -> Void = { _ in }) {
        self.restored = restored
        self.store = (store as? DocumentStore)?.leavingShortLogs() ?? store
        self.limit = max(limit, 1)
        names = store.nameList()
        isShared = store.isShared
    }

    /// The number of open databases.
    var openCount: Int { state.withLock { $0.open.count } }

    /// The open databases by name.
    var open: [String: Database] { state.withLock { $0.open.mapValues(\.database) } }

    /// Sets a closure that is called with each database before the database is used.
    func onOpen(_ body: @escaping @Sendable (String, Database) -> Void) { state.withLock { $0.onOpen = body } }

    /// Whether a database of this name exists.
    ///
    /// - Throws: ``DatabaseError`` when the store can't tell.
    func contains(_ name: String) throws -> Bool { try store.contains(name) }

    /// Reads what other nodes have changed in some databases and in the server's settings. A database that was
    /// deleted or replaced is closed; the next use of its name opens the new one.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable`.
    func freshen(_ names: [String]) throws { try store.freshen(names) }

    /// Checks that the store accepts writes, if there is reason to doubt it.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable`.
    func checkWrites() throws { try store.checkWrites() }

    /// The store's numbers for operators.
    var numbers: [Metric] {
        store.numbers.map {
            Metric(["settle", "postgres", $0.name], $0.isCounter ? .counter : .gauge, $0.help, $0.value)
        }
    }

    /// Makes the folder that collects long bodies.
    func makeUploadFolder() throws -> String { try store.uploadFolder() }

    /// Opens a database, or returns it if it is open.
    ///
    /// - Throws: ``HTTPError/noDatabase``, also for an invalid database name.
    func open(_ name: String) throws -> Database {
        if let opened = opened(name) { return opened }
        guard DocumentStore.isName(name) else { throw HTTPError.noDatabase }
        let database: Database
        do { database = try store.open(name) } catch let error as DatabaseError where error.code == .notFound {
            throw HTTPError.noDatabase
        }
        // On a full disk the database is still served, and the next opening tries again.
        if (try? database.renewInstanceIfReplaced()) == true { restored(name) }
        keep(database, name)
        return database
    }

    /// A database that is already open; `nil` if it is not.
    func opened(_ name: String) -> Database? { state.withLock { state in use(name, &state) } }

    /// Whether the last ``sourceIfThere(_:)`` found no database of this name.
    func isMissing(_ name: String) -> Bool { state.withLock { $0.missing.contains(name) } }

    /// The security object of a database, if it was read after the last change to it.
    func knownSecurity(of name: String) -> SecurityObject? {
        // Read without the lock, because reading the epoch may ask another machine.
        let entry = state.withLock { $0.open[name] }
        guard let entry, let known = entry.security, known.age == entry.database.settingsEpoch,
            !entry.database.isClosed
        else { return nil }
        return known.object
    }

    /// The security object of a database. It is read again only after a change of the settings.
    ///
    /// - Throws: As ``open(_:)`` does, and what reading it throws.
    func security(of name: String) throws -> SecurityObject {
        if let known = knownSecurity(of: name) { return known }
        let database = try open(name)
        // Read before the object: a change in between makes the object count as old.
        let age = database.settingsEpoch
        let object = try SecurityObject(of: database)
        state.withLock { state in
            guard state.open[name]?.database === database else { return }
            state.open[name]?.security = (object, age)
        }
        return object
    }

    /// Creates a database. It succeeds even if another client deletes the database before this returns.
    ///
    /// - Throws: ``DatabaseError`` with code `exists`, and what creating it throws.
    func create(_ name: String) throws {
        do { keep(try names.change(name) { try store.create(name) }, name) } catch let error as DatabaseError
            where [.notFound, .closed].contains(error.code)
        {}
    }

    /// Adds a database that the caller has opened, wherever its files are.
    func lend(_ database: Database, as name: String) { keep(database, name) }

    /// Deletes a database; its feeds end.
    func delete(_ name: String) throws {
        guard DocumentStore.isName(name) else { throw HTTPError.noDatabase }
        _ = state.withLock { $0.open.removeValue(forKey: name) }
        do { try names.change(name) { try store.delete(name) } } catch let error as DatabaseError
            where error.code == .notFound
        { throw HTTPError.noDatabase }
        // Another thread may have opened it again meanwhile.
        _ = state.withLock { $0.open.removeValue(forKey: name) }
    }

    /// Releases all databases.
    func closeAll() {
        let all = state.withLock { state in
            defer { state.open = [:] }
            return state.open.values.map(\.database)
        }
        for database in all { database.close() }
        closer.wait()
    }

    /// Runs a closure and keeps databases that are open from being closed by the end of that closure.
    func keeping<Result>(_ names: [String], _ body: () throws -> Result) rethrows -> Result {
        let kept = state.withLock { state in names.map { keep($0, by: 1, &state) } }
        defer {
            state.withLock { state in
                for (name, database) in zip(names, kept) where database === state.open[name]?.database {
                    _ = keep(name, by: -1, &state)
                }
            }
        }
        return try body()
    }

    private func use(_ name: String, _ state: inout State) -> Database? {
        guard let index = state.open.index(forKey: name) else { return nil }
        // The database may have been deleted and closed, and another one may have its name.
        guard !state.open.values[index].database.isClosed else {
            state.open.remove(at: index)
            return nil
        }
        state.uses += 1
        state.open.values[index].lastUse = state.uses
        return state.open.values[index].database
    }

    private func keep(_ name: String, by count: Int, _ state: inout State) -> Database? {
        guard let index = state.open.index(forKey: name) else { return nil }
        state.open.values[index].keepers += count
        return state.open.values[index].database
    }

    private func keep(_ database: Database, _ name: String) {
        state.withLock(\.onOpen)?(name, database)
        let dropped = state.withLock { state -> [Database] in
            state.uses += 1
            state.missing.remove(name)
            var entry = Entry(database: database, lastUse: state.uses)
            if let known = state.open[name], known.database === database { entry.keepers = known.keepers }
            let replaced = state.open.updateValue(entry, forKey: name).map { [$0.database] } ?? []
            return replaced + removeOldest(&state)
        }
        // Again: the receiver may have begun in between, and have looked for the open databases before.
        state.withLock(\.onOpen)?(name, database)
        // Releasing them may close them, which must not happen under the lock.
        closer.close(consume dropped)
    }

    /// Removes the least recently used eighth of the databases when there are too many, so that few openings have
    /// to search.
    private func removeOldest(_ state: inout State) -> [Database] {
        guard state.open.count > limit else { return [] }
        let unused = state.open.filter { $0.value.keepers == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
        return unused.prefix(max(limit / 8, 1)).compactMap { state.open.removeValue(forKey: $0.key)?.database }
    }
}

extension DatabasePool: DatabaseSource {
    func source(_ name: String) throws -> any QuerySource { try open(name) }

    func sourceIfThere(_ name: String) throws -> (any QuerySource)? {
        do { return try open(name) } catch let error as HTTPError where error.status == 404 {
            state.withLock { _ = $0.missing.insert(name) }
            return nil
        }
    }
}

// MARK: - DatabaseSource

/// The source of the databases of a request: a ``DatabasePool``, which may wait, or ``PromptDatabases``, which never do.
protocol DatabaseSource: Sendable {
    /// Opens a database, or returns it if it is open.
    ///
    /// - Throws: ``HTTPError/noDatabase``; ``NotAtHand`` if the database is not open and this source may not wait.
    func source(_ name: String) throws -> any QuerySource

    /// A database that the server does not need; `nil` if it does not exist.
    ///
    /// - Throws: As ``source(_:)`` does.
    func sourceIfThere(_ name: String) throws -> (any QuerySource)?

    /// The security object of a database.
    ///
    /// - Throws: As ``source(_:)`` does, and what reading it throws.
    func security(of name: String) throws -> SecurityObject
}

/// The open databases of a pool, for reads that never wait.
struct PromptDatabases: DatabaseSource {
    private let pool: DatabasePool

    init(_ pool: DatabasePool) { self.pool = pool }

    func source(_ name: String) throws -> any QuerySource {
        if let database = pool.opened(name) { return PromptDatabase(database) }
        throw DocumentStore.isName(name) ? NotAtHand() as any Error : HTTPError.noDatabase
    }

    func sourceIfThere(_ name: String) throws -> (any QuerySource)? { pool.isMissing(name) ? nil : try source(name) }

    func security(of name: String) throws -> SecurityObject {
        guard let known = pool.knownSecurity(of: name) else { throw NotAtHand() }
        return known
    }
}

// MARK: - DatabaseCloser

/// Closes databases on a separate thread, which holds the last reference, so that no request waits for that.
///
/// The queue is bounded: if too many databases wait, the caller closes its databases itself and waits for the disk.
final class DatabaseCloser: Sendable {
    private let queue = DispatchQueue(label: "settle.closing")
    private let waiting = Guarded(0)
    private static let limit = 64

    /// Releases databases. Each closes after its last user has released it.
    func close(_ databases: consuming [Database]) {
        let count = databases.count
        guard count > 0 else { return }
        let isTaken = waiting.withLock { waiting in
            guard waiting < Self.limit else { return false }
            waiting += count
            return true
        }
        guard isTaken else { return }
        let released = Guarded(databases)
        queue.async { [waiting] in
            while released.withLock({ $0.popLast() }) != nil { waiting.withLock { $0 -= 1 } }
        }
    }

    /// Waits until the databases that were passed to ``close(_:)`` have been released.
    func wait() { queue.sync {} }
}
