import Settle
import SettleDatabase
import Synchronization

/// An engine that counts reads, and delegates to another.
final class CountingEngine: JournalStorage {
    private let engine: any StorageEngine
    private let counter = Atomic<Int>(0)

    init(_ engine: any StorageEngine) { self.engine = engine }

    var reads: Int { counter.load(ordering: .relaxed) }
    var isWriting: Bool { engine.isWriting }

    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        counter.add(1, ordering: .relaxed)
        return try engine.read(body)
    }

    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
        counter.add(1, ordering: .relaxed)
        return try engine.snapshot(body)
    }

    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try engine.commit(body)
    }
    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result { try engine.hold(body) }
    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) { engine.onCommit(notify) }
    func removeJournal() throws { try (engine as? any JournalStorage)?.removeJournal() }
    func close() { engine.close() }
}
