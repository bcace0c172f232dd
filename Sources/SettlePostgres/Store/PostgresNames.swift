internal import SettleDatabase

/// The names of all databases of a cluster, read anew each time, because any node creates and deletes.
struct PostgresNames: DatabaseNameList {
    let pool: PostgresPool

    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result {
        guard let rows = try pool.ask([PostgresCall(.names)]).first else { return try body([]) }
        return try body(rows.map { rows.text($0, 0) })
    }
}
