internal import SettleDatabase
internal import SettlePlatform

/// The shared settings of a cluster's servers: one row, which nodes change by comparing versions.
final class PostgresRecord: ServerRecord {
    private let pool: PostgresPool
    let place: String
    private let newest = Guarded<Int64?>(nil)
    /// The name of the row.
    static let name = "server"

    init(_ pool: PostgresPool, place: String) {
        self.pool = pool
        self.place = "the settings in PostgreSQL at \(place)"
    }

    func reserve() throws {}

    func release() {}

    func read() throws -> (bytes: [UInt8], version: Int64)? {
        guard let rows = try pool.ask([PostgresCall(.serverRecord, .text(Self.name))]).first, rows.count > 0 else {
            return nil
        }
        let version = rows.integer(0, 1)
        recordVersion(version)
        return (rows.bytes(0, 0), version)
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        let call =
            version.map { PostgresCall(.putServerRecord, .text(Self.name), .bytes(bytes), .integer($0)) }
            ?? PostgresCall(.makeServerRecord, .text(Self.name), .bytes(bytes))
        let rows = try pool.runOnce([call])
        guard let row = rows.first, row.count > 0 else { return nil }
        recordVersion(row.integer(0, 0))
        return row.integer(0, 0)
    }

    var newestVersion: Int64? { newest.withLock { $0 } }

    /// Records the version that a query has found.
    func recordVersion(_ version: Int64) { newest.withLock { $0 = max($0 ?? version, version) } }
}

// MARK: - PostgresNames

/// The names of all databases of a cluster. They are read each time, because any node can create and delete
/// databases.
struct PostgresNames: DatabaseNameList {
    let pool: PostgresPool

    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result {
        guard let rows = try pool.ask([PostgresCall(.names)]).first else { return try body([]) }
        return try body(rows.map { rows.text($0, 0) })
    }
}
