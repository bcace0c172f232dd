import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting

/// One node's view of a shared memory.
final class SharedMemoryStore: ServerStore {
    private struct Opened {
        weak var database: Database?
        let storage: SharedStore
        let engine: SharedEngine
    }

    private let memory: SharedMemory
    private let folder: TemporaryFolder
    private let opened = Guarded<[String: Opened]>([:])
    private let record: Record

    init(_ memory: SharedMemory) throws {
        self.memory = memory
        folder = try TemporaryFolder()
        record = Record(memory: memory)
    }

    var place: String { "memory" }
    var isShared: Bool { true }

    func open(_ name: String) throws -> Database {
        try memory.network.pass()
        guard let storage = memory.databases[name] else { throw DatabaseError(.notFound, "there is no \(name)") }
        if let open = opened.withLock({ $0[name] }), open.storage === storage, let database = open.database {
            return database
        }
        let node = try storage.node()
        opened.withLock { $0[name] = Opened(database: node.database, storage: storage, engine: node.engine) }
        return node.database
    }

    func create(_ name: String) throws -> Database {
        guard DocumentStore.isName(name) else { throw DatabaseError(.invalid, name) }
        _ = try memory.add(name)
        return try open(name)
    }

    func delete(_ name: String) throws {
        try memory.remove(name)
        opened.withLock { $0.removeValue(forKey: name) }?.database?.close()
    }

    func contains(_ name: String) throws -> Bool {
        try memory.network.pass()
        return memory.databases[name] != nil
    }

    func nameList() -> any DatabaseNameList { Names(memory: memory) }

    func serverRecord() -> any ServerRecord { record }

    func freshen(_ names: [String]) throws {
        let now = ContinuousClock.now
        try memory.network.ask()
        if let expected = Freshness.request?.expected {
            memory.expected.withLock { $0.append("\(expected.database)/\(expected.id)") }
        }
        let known = memory.databases
        record.found(memory.record?.version)
        for name in names {
            guard let open = opened.withLock({ $0[name] }) else { continue }
            if known[name] === open.storage { open.engine.hear(asOf: now) } else { open.database?.close() }
        }
    }

    func uploadFolder() throws -> String { folder.path }

    private struct Names: DatabaseNameList {
        let memory: SharedMemory

        func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result {
            try memory.network.pass()
            return try body(memory.databases.keys.sorted())
        }
    }

    private final class Record: ServerRecord {
        private let memory: SharedMemory
        private let newest = Guarded<Int64?>(nil)

        init(memory: SharedMemory) { self.memory = memory }

        var place: String { "the record" }
        var newestVersion: Int64? { newest.withLock(\.self) }

        func found(_ version: Int64?) { newest.withLock { $0 = version } }
        func reserve() {}
        func release() {}

        func read() throws -> (bytes: [UInt8], version: Int64)? {
            try memory.network.pass()
            return memory.record
        }

        func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
            try memory.write(bytes, replacing: version)
        }
    }
}
