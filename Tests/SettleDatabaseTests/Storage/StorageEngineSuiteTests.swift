import Settle
import SettleDatabase
import SettleTesting
import Testing

@Suite struct StorageEngineSuiteTests {
    @Test func `the engine in memory passes`() {
        #expect(StorageEngineSuite.run(readsWait: true) { try SQLiteStorage.inMemory() } == [])
    }

    @Test func `the engine in dictionaries passes`() {
        #expect(StorageEngineSuite.run { MemoryEngine() } == [])
    }

    @Test(arguments: Durability.allCases)
    func `the engine in a file passes`(durability: Durability) throws {
        let folder = try TemporaryFolder()
        let numbers = Log<Int>()
        let failures = StorageEngineSuite.run {
            numbers.add(0)
            return try SQLiteStorage.file(folder("\(numbers.values.count).sqlite"), durability: durability)
        }
        #expect(failures == [])
    }

    @Test(.timeLimit(.minutes(5))) func `an engine whose writes wait for snapshots fails, unless that is said`() {
        let failures = StorageEngineSuite.run(patience: 1) { try SQLiteStorage.inMemory() }
        #expect(failures == ["snapshots: a write waits for a snapshot; see `readsWait`"])
    }

    @Test func `an engine that does not notify of commits fails`() {
        let failures = StorageEngineSuite.run(readsWait: true) { MuteEngine(try SQLiteStorage.inMemory()) }
        #expect(failures.contains { $0.hasPrefix("commits: ") })
        #expect(!failures.contains { $0.hasPrefix("records: ") })
    }
}

/// An engine with a fault.
private struct MuteEngine: StorageEngine {
    let engine: any StorageEngine

    init(_ engine: any StorageEngine) { self.engine = engine }

    var isWriting: Bool { engine.isWriting }
    func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try engine.read(body) }
    func snapshot<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try engine.snapshot(body) }
    func commit<Result: Sendable>(_ body: @escaping @Sendable (any StorageWriter) throws -> Result) throws -> Result {
        try engine.commit(body)
    }
    func hold<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result { try engine.hold(body) }
    func onCommit(_ notify: @escaping @Sendable (CommitNotice) -> Void) {}
    func close() { engine.close() }
}
