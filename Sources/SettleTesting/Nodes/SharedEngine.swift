internal import SettleDatabase

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
