import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting

/// What the nodes of a test share: databases in memory, and the server's record.
final class SharedMemory: Sendable {
    private struct State {
        var databases: [String: SharedStore] = [:]
        var record: (bytes: [UInt8], version: Int64)?
    }

    let network = SharedNetwork()
    /// The documents that requests were expected to read first.
    let expected = Guarded<[String]>([])
    private let state = Guarded(State())
    /// The time after which other nodes hear of a commit if they don't ask.
    private static let bell = Duration.milliseconds(100)

    /// How often nodes asked what others have changed.
    var questions: Int { network.questions }

    /// Whether nobody can reach it.
    var isDown: Bool {
        get { network.isDown }
        set { network.isDown = newValue }
    }

    /// The databases by their names.
    var databases: [String: SharedStore] { state.withLock { $0.databases } }

    /// The server's record.
    var record: (bytes: [UInt8], version: Int64)? { state.withLock { $0.record } }

    func add(_ name: String) throws -> SharedStore {
        try network.pass()
        let storage = try SharedStore(network: network, delay: Self.bell)
        return try state.withLock { state in
            guard state.databases[name] == nil else { throw DatabaseError(.exists, "there is a database \(name)") }
            state.databases[name] = storage
            return storage
        }
    }

    func remove(_ name: String) throws {
        try network.pass()
        guard let storage = state.withLock({ $0.databases.removeValue(forKey: name) }) else {
            throw DatabaseError(.notFound, "there is no database \(name)")
        }
        storage.delete()
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        try network.pass()
        return state.withLock { state in
            guard state.record?.version == version else { return nil }
            let next = (version ?? 0) + 1
            state.record = (bytes, next)
            return next
        }
    }
}
