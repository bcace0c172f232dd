package import SettleDatabase
internal import SettlePlatform

/// A database in memory that several nodes share, as if each were a process of its own.
///
///     let store = try SharedStore(clock)
///     let (one, other) = (try store.node("one"), try store.node("other"))
///     one.isCut = true            // nothing of it reaches the storage any more
package final class SharedStore: Sendable {
    package let leases: SharedLeases
    fileprivate let engine: any StorageEngine
    private let listeners = Guarded<[@Sendable (CommitNotice) -> Void]>([])

    /// Makes an empty database, with a clock for its leases.
    package init(_ clock: some Clock<Duration>) throws {
        leases = SharedLeases(clock)
        engine = try SQLiteStorage.inMemory()
        engine.onCommit { [listeners] notice in
            // What one node has written, the others know nothing of.
            let notice = CommitNotice(sequence: notice.sequence, changesDesign: true, changesSettings: true)
            for listener in listeners.withLock(\.self) { listener(notice) }
        }
    }

    /// Another node.
    package func node(_ name: String) throws -> SharedNode { try SharedNode(name, self) }

    func listen(_ listener: @escaping @Sendable (CommitNotice) -> Void) { listeners.withLock { $0.append(listener) } }
}

/// A node of a ``SharedStore``.
package final class SharedNode: Sendable {
    package let name: String
    /// The database as this node has it open.
    package let database: Database
    private let link: SharedLink

    fileprivate init(_ name: String, _ store: SharedStore) throws {
        self.name = name
        link = SharedLink()
        database = try Database.make(on: SharedEngine(store.engine, store, name, link))
    }

    /// Whether the storage can't be reached.
    package var isCut: Bool {
        get { link.state.withLock(\.isCut) }
        set { link.state.withLock { $0.isCut = newValue } }
    }

    /// How many calls have failed because it could not be reached.
    package var failures: Int { link.state.withLock(\.failures) }
}

/// The way of a node to the storage.
final class SharedLink: Sendable {
    let state = Guarded((isCut: false, failures: 0))

    func pass() throws {
        let isCut = state.withLock { state in
            if state.isCut { state.failures += 1 }
            return state.isCut
        }
        if isCut { throw DatabaseError(.unavailable, "the storage can't be reached") }
    }
}
