import Settle
import SettleDatabase
import SettlePlatform

/// The engine by which one node uses a shared storage: it learns of the commits of other nodes when it asks, or somewhat later.
final class SharedEngine: SettleDatabase.SharedStorage, MaintainedStorage {
    private struct State {
        var notify: (@Sendable (CommitNotice) -> Void)?
        /// Whether another node has committed something that this one has not heard of.
        var isOld = false
        var asked: ContinuousClock.Instant?
        var isClosed = false
    }

    private let storage: SharedStorage
    private let state = Guarded(State())

    init(_ storage: SharedStorage) { self.storage = storage }

    var isWriting: Bool { storage.engine.isWriting }

    func refresh() throws {
        try check()
        if let asked = state.withLock(\.asked), Freshness.accepts(readAt: asked) { return }
        let now = ContinuousClock.now
        try storage.memory.ask()
        hear(asOf: now)
    }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try check()
        storage.countRead()
        return try storage.engine.read(body)
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        try check()
        storage.countRead()
        return try storage.engine.snapshot(body)
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try written { try storage.engine.commit(body) }
    }

    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
        try written { try storage.engine.hold(body) }
    }

    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { state.withLock { $0.notify = notify } }

    func requireCurrentDesign() {}

    func maintain(_ task: MaintenanceTask) throws -> MaintenanceReport {
        try (storage.engine as? any MaintainedStorage)?.maintain(task) ?? MaintenanceReport()
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// Notes that another node has committed something.
    func note() { state.withLock { $0.isOld = true } }

    /// Gives notice of what other nodes have committed.
    func hear(asOf moment: ContinuousClock.Instant? = nil) {
        let isOld = state.withLock { state in
            state.asked = moment ?? state.asked
            defer { state.isOld = false }
            return state.isOld && !state.isClosed
        }
        if isOld { tell(isForeign: true) }
    }

    func tell(isForeign: Bool, changesDocuments: Bool = true) {
        guard let newest = try? storage.engine.read({ try $0.lastSequence }) else { return }
        let notice = CommitNotice(
            sequence: newest, changesDesign: isForeign, changesSettings: isForeign, isForeign: isForeign,
            changesDocuments: changesDocuments)
        state.withLock(\.notify)?(notice)
    }

    private func written<Result>(_ body: () throws -> Result) throws -> Result {
        try check()
        let isPart = isWriting
        let before = try storage.engine.read { try $0.lastSequence }
        let result = try body()
        guard !isPart else { return result }
        storage.announce(by: self, changesDocuments: try storage.engine.read { try $0.lastSequence } > before)
        return result
    }

    private func check() throws {
        guard !state.withLock(\.isClosed), !storage.isDeleted else { throw DatabaseError(.closed, "closed") }
        try storage.memory.reach()
    }
}
