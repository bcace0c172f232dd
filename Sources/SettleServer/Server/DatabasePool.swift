internal import SettleDatabase
internal import SettlePlatform
internal import SettleViews

/// The databases of a store that are kept open; the one not used longest makes room for another.
///
/// A database that is dropped here closes by itself once no request uses it any more. Nothing that takes long happens under
/// the lock.
final class DatabasePool: Sendable {
    private struct State {
        var open: [String: Entry] = [:]
        /// Names that no database had when it was last looked for.
        var missing: Set<String> = []
        var uses = 0
        var onOpen: (@Sendable (String, Database) -> Void)?
    }

    private struct Entry {
        let database: Database
        var lastUse: Int
        /// How many use it on threads that must not be the ones to close it.
        var keepers = 0
        /// Its security object, and the age of the settings it was read at.
        var security: (object: SecurityObject, age: UInt64)?
    }

    private let store: DocumentStore
    private let limit: Int
    private let state = Guarded(State())
    /// The names of all databases.
    let names: DatabaseNames
    private let closer = DatabaseCloser()

    init(store: DocumentStore, limit: Int) {
        self.store = store.leavingShortLogs()
        self.limit = max(limit, 1)
        names = DatabaseNames(store)
    }

    /// The folder they are in.
    var path: String { store.path }

    /// How many are kept open.
    var openCount: Int { state.withLock { $0.open.count } }

    /// Those that are kept open, by their names.
    var open: [String: Database] { state.withLock { $0.open.mapValues(\.database) } }

    /// Sets what is called with each database before it is used.
    func onOpen(_ body: @escaping @Sendable (String, Database) -> Void) { state.withLock { $0.onOpen = body } }

    /// The names of the databases whose names meet a condition, sorted; nothing looks at the others' files.
    func names(where condition: (String) -> Bool) throws -> [String] {
        try store.listedNames().filter { condition($0) && store.contains($0) }.sorted()
    }

    /// Whether there is a database of a name.
    func contains(_ name: String) -> Bool { store.contains(name) }

    /// Makes the folder in which long bodies are collected: not the databases' own, for its time of change tells of databases.
    func makeUploadFolder() throws -> String {
        let folder = store.path + "/uploads"
        try makePrivateFolder(folder)
        return folder
    }

    /// A database.
    ///
    /// - Throws: ``HTTPError/noDatabase``, also for an invalid database name.
    func open(_ name: String) throws -> Database {
        if let opened = opened(name) { return opened }
        guard DocumentStore.isName(name) else { throw HTTPError.noDatabase }
        let database: Database
        do { database = try store.open(name) } catch let error as DatabaseError where error.code == .notFound {
            throw HTTPError.noDatabase
        }
        keep(database, name)
        return database
    }

    /// A database that is open already.
    func opened(_ name: String) -> Database? { state.withLock { state in use(name, &state) } }

    /// Whether there was no such database when one was last looked for by ``sourceIfThere(_:)``.
    func isMissing(_ name: String) -> Bool { state.withLock { $0.missing.contains(name) } }

    /// Who may use a database, if that was read since it was last set.
    func knownSecurity(of name: String) -> SecurityObject? {
        state.withLock { state in
            guard let entry = state.open[name], let known = entry.security,
                known.age == entry.database.settingsEpoch, !entry.database.isClosed
            else { return nil }
            return known.object
        }
    }

    /// Who may use a database, read once as long as its settings stay.
    ///
    /// - Throws: As ``open(_:)`` does, and what reading it throws.
    func security(of name: String) throws -> SecurityObject {
        if let known = knownSecurity(of: name) { return known }
        let database = try open(name)
        // Taken before it is read: what is set meanwhile makes it old.
        let age = database.settingsEpoch
        let object = try SecurityObject(of: database)
        state.withLock { state in
            guard state.open[name]?.database === database else { return }
            state.open[name]?.security = (object, age)
        }
        return object
    }

    /// Creates a database.
    func create(_ name: String) throws { keep(try names.change(name) { try store.create(name) }, name) }

    /// Takes a database that is open already, wherever its files are.
    func lend(_ database: Database, as name: String) { keep(database, name) }

    /// Deletes a database; feeds on it end.
    func delete(_ name: String) throws {
        guard DocumentStore.isName(name) else { throw HTTPError.noDatabase }
        _ = state.withLock { $0.open.removeValue(forKey: name) }
        do { try names.change(name) { try store.delete(name) } } catch let error as DatabaseError
            where error.code == .notFound
        { throw HTTPError.noDatabase }
        // Somebody may have asked for it meanwhile.
        _ = state.withLock { $0.open.removeValue(forKey: name) }
    }

    /// Lets go of all databases.
    func closeAll() {
        let all = state.withLock { state in
            defer { state.open = [:] }
            return state.open.values.map(\.database)
        }
        for database in all { database.close() }
        closer.wait()
    }

    /// Runs a closure while databases that are open stay so, so that it is not the closure's end that closes one of them.
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
        // One that was deleted was closed; another may have taken its name.
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
        // They may close at once, and so not under the lock.
        closer.close(consume dropped)
    }

    /// Removes the eighth that was not used longest once there are too many, so that an opening rarely looks for it.
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
