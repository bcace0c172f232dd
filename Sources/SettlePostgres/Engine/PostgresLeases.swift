internal import SettleDatabase
internal import SettlePlatform

/// The leases of a database's jobs, in a table; see ``JobLeases``.
struct PostgresLeases: JobLeases {
    private let database: Int64
    private let pool: PostgresPool
    let node: String

    init(_ database: Int64, _ pool: PostgresPool, node: String) {
        (self.database, self.pool, self.node) = (database, pool, node)
    }

    func take(_ jobs: [String], atMost count: Int) throws -> [JobLease] {
        guard !jobs.isEmpty, count > 0 else { return [] }
        let rows = try pool.runOnce([
            PostgresCall(.forgetLeases, number),
            PostgresCall(.takeLeases, number, names(jobs), .text(node), .integer(Int64(count))),
        ])
        let taken = leases(rows[1])
        pool.leases.withLock { $0[database, default: []].formUnion(taken.map(\.job)) }
        return taken
    }

    func renew(_ leases: [(lease: JobLease, status: [UInt8]?)]) throws -> [JobLease] {
        guard !leases.isEmpty else { return [] }
        let rows = try pool.runOnce([
            PostgresCall(
                .renewLeases, number, names(leases.map(\.lease.job)), .integers(leases.map(\.lease.term)),
                .byteArrays(leases.map(\.status)), .text(node))
        ])
        let kept = self.leases(rows[0])
        forget(Set(leases.map(\.lease.job)).subtracting(kept.map(\.job)))
        return kept
    }

    func release(_ leases: [JobLease]) throws {
        guard !leases.isEmpty else { return }
        defer { forget(Set(leases.map(\.job))) }
        _ = try pool.runOnce([
            PostgresCall(.releaseLeases, number, names(leases.map(\.job)), .integers(leases.map(\.term)), .text(node))
        ])
    }

    func all() throws -> [LeasedJob] {
        guard let rows = try pool.ask([PostgresCall(.leases, number)]).first else { return [] }
        return rows.map { LeasedJob(job: rows.text($0, 0), node: rows.text($0, 1), status: rows.optionalBytes($0, 2)) }
    }

    /// Removes leases from the count.
    private func forget(_ jobs: Set<String>) { pool.leases.withLock { $0[database]?.subtract(jobs) } }

    private var number: PostgresValue { .integer(database) }

    private func names(_ jobs: [String]) -> PostgresValue { .byteArrays(jobs.map { Array($0.utf8) }) }

    private func leases(_ rows: PostgresResult) -> [JobLease] {
        rows.map { JobLease(job: rows.text($0, 0), term: rows.integer($0, 1)) }
    }
}
