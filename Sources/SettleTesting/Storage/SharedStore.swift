internal import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// A database in memory that several nodes share, as if each were a process of its own.
///
///     let store = try SharedStore(clock)
///     let (one, other) = (try store.node("one"), try store.node("other"))
///     one.isCut = true            // nothing of it reaches the storage from now on
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

    /// The number of calls that have failed because it could not be reached.
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

// MARK: - SharedEngine

/// The engine of a node of a ``SharedStore``: that of the store, unless the node is cut off, and with leases.
struct SharedEngine: StorageEngine, JobLeases {
    private let engine: any StorageEngine
    private let store: SharedStore
    let node: String
    private let link: SharedLink

    init(_ engine: any StorageEngine, _ store: SharedStore, _ node: String, _ link: SharedLink) {
        (self.engine, self.store, self.node, self.link) = (engine, store, node, link)
    }

    var readsInParallel: Bool { engine.readsInParallel }
    var isShared: Bool { true }
    var leases: (any JobLeases)? { self }
    var isWriting: Bool { engine.isWriting }

    func refresh() throws { try link.pass() }

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
        return try engine.commit { try body(FencedWriter($0, store.leases, node)) }
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try link.pass()
        return try engine.hold { try body(FencedWriter($0, store.leases, node)) }
    }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { store.listen(notify) }

    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport { try engine.maintain(task) }

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

// MARK: - FencedWriter

/// A writer that knows leases; everything else it leaves to another one.
struct FencedWriter: StorageWriter {
    private let writer: any StorageWriter
    private let leases: SharedLeases
    private let node: String

    init(_ writer: any StorageWriter, _ leases: SharedLeases, _ node: String) {
        (self.writer, self.leases, self.node) = (writer, leases, node)
    }

    func require(_ lease: JobLease) throws {
        guard leases.has(lease, node) else {
            throw DatabaseError(.conflict, "the lease of \(lease.job) no longer belongs to this node")
        }
    }

    func apply(_ change: DocumentChange) throws -> UpdateSequence? { try writer.apply(change) }
    func requireCurrentDesign() throws { try writer.requireCurrentDesign() }
    func restore(_ record: DocumentRecord) throws { try writer.restore(record) }
    func restoreContent(_ content: RevisionContent, at token: UInt64) throws {
        try writer.restoreContent(content, at: token)
    }
    func restoreSequence(_ sequence: UpdateSequence) throws { try writer.restoreSequence(sequence) }
    func putContent(_ content: RevisionContent) throws -> UInt64 { try writer.putContent(content) }
    func removeContent(at token: UInt64) throws { try writer.removeContent(at: token) }
    func put(_ record: SideRecord) throws { try writer.put(record) }
    func remove(_ key: SideRecord.Key) throws { try writer.remove(key) }
    func removeJournal() throws { try writer.removeJournal() }
    func part<Result>(_ body: () throws -> Result) throws -> Result { try writer.part(body) }
    func afterCommit(_ action: @escaping @Sendable () -> Void) { writer.afterCommit(action) }

    var lastSequence: UpdateSequence { get throws { try writer.lastSequence } }

    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try writer.storedRecord(of: id, withContent: withContent)
    }

    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try writer.records(scan, limit: limit, withContent: withContent)
    }

    func ids(_ scan: DocumentScan, limit: Int) throws -> [DocumentID] { try writer.ids(scan, limit: limit) }
    func count(_ scan: DocumentScan) throws -> Int { try writer.count(scan) }
    func liveID(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        try writer.liveID(at: place, in: range)
    }
    func content(at token: UInt64) throws -> RevisionContent? { try writer.content(at: token) }

    func contentTokens(after token: UInt64, descending: Bool, limit: Int) throws -> [UInt64] {
        try writer.contentTokens(after: token, descending: descending, limit: limit)
    }

    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? { try writer.sideRecord(key) }

    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        try writer.sideRecords(scan, limit: limit)
    }
}
