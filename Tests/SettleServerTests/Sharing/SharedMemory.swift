import Dispatch
import Settle
import SettleDatabase
import SettlePlatform

/// What the nodes of a test share: databases in memory, and the server's record.
final class SharedMemory: Sendable {
    private struct State {
        var databases: [String: SharedStorage] = [:]
        var record: (bytes: [UInt8], version: Int64)?
        var isDown = false
        var questions = 0
    }

    private let state = Guarded(State())

    /// How often nodes asked what others have changed.
    var questions: Int { state.withLock { $0.questions } }

    /// Whether nobody can reach it.
    var isDown: Bool {
        get { state.withLock { $0.isDown } }
        set { state.withLock { $0.isDown = newValue } }
    }

    /// The databases by their names.
    var databases: [String: SharedStorage] { state.withLock { $0.databases } }

    /// The server's record.
    var record: (bytes: [UInt8], version: Int64)? { state.withLock { $0.record } }

    /// Fails while it is down, with a message that no client may see.
    func reach() throws {
        if isDown { throw DatabaseError(.unavailable, "no route to the host db-7.internal") }
    }

    /// Fails while it is down; else counts a question.
    func ask() throws {
        try reach()
        state.withLock { $0.questions += 1 }
    }

    func add(_ name: String) throws -> SharedStorage {
        try reach()
        let storage = SharedStorage(try SQLiteStorage.inMemory(), self)
        return try state.withLock { state in
            guard state.databases[name] == nil else { throw DatabaseError(.exists, "there is a database \(name)") }
            state.databases[name] = storage
            return storage
        }
    }

    func remove(_ name: String) throws {
        try reach()
        guard let storage = state.withLock({ $0.databases.removeValue(forKey: name) }) else {
            throw DatabaseError(.notFound, "there is no database \(name)")
        }
        storage.delete()
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        try reach()
        return state.withLock { state in
            guard state.record?.version == version else { return nil }
            let next = (version ?? 0) + 1
            state.record = (bytes, next)
            return next
        }
    }
}

/// The storage of one database, which an engine of each node uses.
final class SharedStorage: Sendable {
    private struct State {
        var engines: [SharedEngine] = []
        var isDeleted = false
        var reads = 0
    }

    let engine: any StorageEngine
    let memory: SharedMemory
    private let state = Guarded(State())
    /// After how many milliseconds other nodes hear of a commit when they don't ask.
    private static let bell = 100

    init(_ engine: any StorageEngine, _ memory: SharedMemory) { (self.engine, self.memory) = (engine, memory) }

    var isDeleted: Bool { state.withLock { $0.isDeleted } }

    /// How often it was read.
    var reads: Int { state.withLock { $0.reads } }

    func countRead() { state.withLock { $0.reads += 1 } }

    func add(_ engine: SharedEngine) { state.withLock { $0.engines.append(engine) } }

    func delete() { state.withLock { $0.isDeleted = true } }

    /// Tells the nodes of a commit by one of them.
    func announce(by node: SharedEngine, changesDocuments: Bool) {
        let others = state.withLock { state in state.engines.filter { $0 !== node } }
        for other in others { other.note() }
        node.tell(isForeign: false, changesDocuments: changesDocuments)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.bell)) {
            for other in others { other.hear() }
        }
    }
}
