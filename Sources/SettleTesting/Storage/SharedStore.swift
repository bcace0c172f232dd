internal import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// A database in memory that several nodes share, as if each were a separate process.
///
///     let store = try SharedStore(clock)
///     let (one, other) = (try store.node("one"), try store.node("other"))
///     one.isCut = true            // nothing of it reaches the storage from now on
package final class SharedStore: Sendable {
    package let leases: SharedLeases
    fileprivate let engine: any StorageEngine
    private let listeners = Guarded<[@Sendable (CommitNotice) -> Void]>([])

    /// Creates an empty database, with a clock for its leases.
    package init(_ clock: some Clock<Duration>) throws {
        leases = SharedLeases(clock)
        engine = try SQLiteStorage.inMemory()
        engine.onCommit { [listeners] notice in
            // A node knows nothing about the content of other nodes' writes.
            let notice = CommitNotice(sequence: notice.sequence, changesDesign: true, changesSettings: true)
            for listener in listeners.withLock(\.self) { listener(notice) }
        }
    }

    /// Creates another node.
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

    /// The number of calls that have failed because it could not be reached.
    package var failures: Int { link.state.withLock(\.failures) }
}

/// A node's connection to the storage.
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

// MARK: - SharedEngine

/// The engine of a ``SharedStore``'s node: the store's engine, unless the node is cut off, with leases.
struct SharedEngine: SharedStorage, LeasingStorage, JobLeases {
    private let engine: any StorageEngine
    private let store: SharedStore
    let node: String
    private let link: SharedLink

    init(_ engine: any StorageEngine, _ store: SharedStore, _ node: String, _ link: SharedLink) {
        (self.engine, self.store, self.node, self.link) = (engine, store, node, link)
    }

    var leases: any JobLeases { self }
    var isWriting: Bool { engine.isWriting }

    func refresh() throws { try link.pass() }

    func requireCurrentDesign() {}

    func require(_ lease: JobLease) throws {
        guard store.leases.has(lease, node) else {
            throw DatabaseError(.conflict, "the lease of \(lease.job) is not this node's any more")
        }
    }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try link.pass()
        return try engine.read(body)
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try link.pass()
        return try engine.snapshot(body)
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try link.pass()
        return try engine.commit(body)
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try link.pass()
        return try engine.hold(body)
    }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { store.listen(notify) }

    func close() {}

    func take(_ jobs: [String], atMost count: Int) throws -> [JobLease] {
        try link.pass()
        return store.leases.take(jobs, atMost: count, node)
    }

    func renew(_ leases: [(lease: JobLease, status: [UInt8]?)]) throws -> [JobLease] {
        try link.pass()
        return store.leases.renew(leases, node)
    }

    func release(_ leases: [JobLease]) throws {
        try link.pass()
        store.leases.release(leases, node)
    }

    func all() throws -> [LeasedJob] {
        try link.pass()
        return store.leases.all()
    }
}
