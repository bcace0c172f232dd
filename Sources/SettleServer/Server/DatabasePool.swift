internal import SettleDatabase

/// The databases of a store that are kept open; the one not used longest makes room for another.
///
/// A database that is dropped here closes by itself once no request uses it any more.
final class DatabasePool: Sendable {
    private struct State {
        var open: [String: Entry] = [:]
        var uses = 0
    }

    private struct Entry {
        let database: Database
        var lastUse: Int
    }

    private let store: Store
    private let limit: Int
    private let state = Guarded(State())

    init(store: Store, limit: Int) {
        self.store = store
        self.limit = max(limit, 1)
    }

    /// How many are kept open.
    var openCount: Int { state.withLock { $0.open.count } }

    /// The names of all databases, sorted.
    func names() throws -> [String] { try store.names() }

    /// A database.
    ///
    /// - Throws: ``HTTPError/noDatabase``, also for what is no database's name.
    func open(_ name: String) throws -> Database {
        if let known = state.withLock({ state in use(name, &state) }) { return known }
        guard Store.isName(name) else { throw HTTPError.noDatabase }
        let database: Database
        do { database = try store.open(name) } catch let error as DatabaseError where error.code == .notFound {
            throw HTTPError.noDatabase
        }
        state.withLock { keep(database, name, &$0) }
        return database
    }

    /// Creates a database.
    func create(_ name: String) throws {
        let database = try store.create(name)
        state.withLock { keep(database, name, &$0) }
    }

    /// Deletes a database; feeds on it end.
    func delete(_ name: String) throws {
        guard Store.isName(name) else { throw HTTPError.noDatabase }
        _ = state.withLock { $0.open.removeValue(forKey: name) }
        do { try store.delete(name) } catch let error as DatabaseError where error.code == .notFound {
            throw HTTPError.noDatabase
        }
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
    }

    /// The database that is kept open; one that was closed, for it was deleted, is none.
    private func use(_ name: String, _ state: inout State) -> Database? {
        guard let database = state.open[name]?.database else { return nil }
        guard !database.isClosed else {
            state.open[name] = nil
            return nil
        }
        state.uses += 1
        state.open[name]?.lastUse = state.uses
        return database
    }

    private func keep(_ database: Database, _ name: String, _ state: inout State) {
        state.uses += 1
        state.open[name] = Entry(database: database, lastUse: state.uses)
        guard state.open.count > limit else { return }
        if let oldest = state.open.min(by: { $0.value.lastUse < $1.value.lastUse }) { state.open[oldest.key] = nil }
    }
}
