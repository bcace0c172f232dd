internal import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// The engine of a node of a ``SharedStore``: it reaches the store unless its network is down, learns of the commits of other nodes
/// when it asks or somewhat later, and keeps large contents in the store.
package final class SharedEngine: SharedStorage {
    private struct State {
        var listener: (@Sendable (CommitNotice) -> Void)?
        /// The notice of the commits of other nodes that this one has not heard of.
        var missed: CommitNotice?
        var asked: ContinuousClock.Instant?
        var isClosed = false
    }

    /// The name of the node.
    package let node: String
    package let longestID: Int
    /// The network of this node alone.
    let link = SharedNetwork()
    private let store: SharedStore
    private let state = Guarded(State())

    init(_ store: SharedStore, node: String, longestID: Int) {
        (self.store, self.node, self.longestID) = (store, node, longestID)
    }

    package var isWriting: Bool { store.engine.isWriting }

    package func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        let engine = try reached()
        store.countRead()
        return try engine.read { try body(SharedReader($0, store.contents)) }
    }

    package func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        let engine = try reached()
        store.countRead()
        return try engine.snapshot { try body(SharedReader($0, store.contents)) }
    }

    package func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Result
    ) throws -> Result {
        try reached().commit { try body(self.writer($0)) }
    }

    package func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try reached().hold { try body(writer($0)) }
    }

    private func writer(_ writer: any StorageWriter) -> SharedWriter {
        store.write(by: self)
        return SharedWriter(writer, store, longestID: longestID)
    }

    package func close() { state.withLock { $0.isClosed = true } }

    /// The engine of the store, if this node reaches it.
    private func reached() throws -> any RestorableStorage & MaintainedStorage {
        guard !state.withLock(\.isClosed), !store.isDeleted else {
            throw DatabaseError(.closed, "the database was closed")
        }
        try store.network.pass()
        try link.pass()
        return store.engine
    }

    // MARK: - Commits

    package func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) {
        state.withLock { $0.listener = notify }
    }

    package func refresh() throws {
        _ = try reached()
        if let asked = state.withLock(\.asked), Freshness.accepts(readAt: asked) { return }
        let now = ContinuousClock.now
        try store.network.ask()
        hear(asOf: now)
    }

    package func requireCurrentDesign() {}

    func notify(_ notice: CommitNotice) { state.withLock(\.listener)?(notice) }

    /// Notes a commit of another node.
    func miss(_ sequence: UpdateSequence, changesDocuments: Bool) {
        state.withLock { state in
            state.missed = CommitNotice(
                sequence: sequence, changesDesign: true, changesSettings: true, isForeign: true,
                changesDocuments: changesDocuments || state.missed?.changesDocuments == true)
        }
    }

    /// Notifies the database of the commits of other nodes.
    ///
    /// - Parameter moment: The time at which this node asked, if it did.
    package func hear(asOf moment: ContinuousClock.Instant? = nil) {
        let missed = state.withLock { state in
            state.asked = moment ?? state.asked
            defer { state.missed = nil }
            return state.isClosed ? nil : state.missed
        }
        if let missed { notify(missed) }
    }
}

// MARK: - Capabilities

extension SharedEngine: BlobKeepingStorage, RestorableStorage, MaintainedStorage, LimitedStorage {
    package var blobs: any BlobStorage { SharedBlobs(contents: store.contents, node: node) }

    package func restore(_ record: DocumentRecord) throws { try reached().restore(record) }

    package func restoreSequence(_ sequence: UpdateSequence) throws { try reached().restoreSequence(sequence) }

    package func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport { try reached().maintain(task) }
}

extension SharedEngine: LeasingStorage, JobLeases {
    package var leases: any JobLeases { self }

    package func require(_ lease: JobLease) throws {
        guard store.leases.has(lease, node) else {
            throw DatabaseError(.conflict, "the lease of \(lease.job) no longer belongs to this node")
        }
    }

    package func take(_ jobs: [String], atMost count: Int) throws -> [JobLease] {
        _ = try reached()
        return store.leases.take(jobs, atMost: count, node)
    }

    package func renew(_ leases: [(lease: JobLease, status: [UInt8]?)]) throws -> [JobLease] {
        _ = try reached()
        return store.leases.renew(leases, node)
    }

    package func release(_ leases: [JobLease]) throws {
        _ = try reached()
        store.leases.release(leases, node)
    }

    package func all() throws -> [LeasedJob] {
        _ = try reached()
        return store.leases.all()
    }
}

// MARK: - SharedReader

/// A reader whose rows of contents name their places.
class SharedReader: StorageReader {
    private let reader: any StorageReader
    private let contents: SharedContents

    init(_ reader: any StorageReader, _ contents: SharedContents) { (self.reader, self.contents) = (reader, contents) }

    var lastSequence: UpdateSequence { get throws { try reader.lastSequence } }

    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try reader.storedRecord(of: id, withContent: withContent)
    }

    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try reader.records(scan, limit: limit, withContent: withContent)
    }

    func ids(_ scan: DocumentScan, skipping skipped: Int, limit: Int) throws -> [DocumentID] {
        try reader.ids(scan, skipping: skipped, limit: limit)
    }

    func count(_ scan: DocumentScan) throws -> Int { try reader.count(scan) }

    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? { try reader.sideRecord(key).map(contents.placed) }

    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        try reader.sideRecords(scan, limit: limit).map(contents.placed)
    }
}

/// A writer that lets rows name pinned places only.
final class SharedWriter: SharedReader, StorageWriter {
    private let writer: any StorageWriter
    private let store: SharedStore
    private let longestID: Int

    init(_ writer: any StorageWriter, _ store: SharedStore, longestID: Int) {
        (self.writer, self.store, self.longestID) = (writer, store, longestID)
        super.init(writer, store.contents)
    }

    func put(_ record: SideRecord) throws {
        if case .local(let document) = record { try checkLength(of: document.id) }
        if case .blob(let blob) = record, try writer.blob(blob.digest) == nil { try store.contents.place(blob) }
        try writer.put(record)
        if case .content(let token, _) = record { store.append(restoredToken: token) }
    }

    func apply(_ change: DocumentChange) throws -> UpdateSequence? {
        if case .insert(let record) = change { try checkLength(of: record.id) }
        return try writer.apply(change)
    }

    private func checkLength(of id: DocumentID) throws {
        guard id.string.utf8.count > longestID else { return }
        throw DatabaseError(.invalid, "an id has at most \(longestID) bytes")
    }

    func putContent(_ content: RevisionContent) throws -> UInt64 { try writer.putContent(content) }
    func remove(_ key: SideRecord.Key) throws { try writer.remove(key) }
    func part<Result>(_ body: () throws -> Result) throws -> Result { try writer.part(body) }
    func afterCommit(_ action: @escaping @Sendable () -> Void) { writer.afterCommit(action) }
}
