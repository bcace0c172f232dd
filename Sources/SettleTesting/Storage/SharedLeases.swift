package import SettleDatabase
internal import SettlePlatform

/// The leases of a database in memory that several nodes share, with their own clock.
package final class SharedLeases: Sendable {
    private struct Row {
        var node: String
        var term: Int64
        var until: Duration
        var status: [UInt8]?
    }

    private let rows = Guarded<[String: Row]>([:])
    private let now: @Sendable () -> Duration

    /// The time that a lease lasts.
    private static let term = Duration.seconds(15)

    /// Creates an empty set of leases.
    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    /// Whether a node has a lease now.
    package func has(_ lease: JobLease, _ node: String) -> Bool {
        rows.withLock { $0[lease.job].map { isHeld($0, lease, node) } ?? false }
    }

    func take(_ jobs: [String], atMost count: Int, _ node: String) -> [JobLease] {
        rows.withLock { rows in
            var taken: [JobLease] = []
            for job in jobs where taken.count < count && (rows[job]?.until ?? .zero) <= now() {
                let term = (rows[job]?.term ?? 0) + 1
                rows[job] = Row(node: node, term: term, until: now() + Self.term)
                taken.append(JobLease(job: job, term: term))
            }
            return taken
        }
    }

    func renew(_ leases: [(lease: JobLease, status: [UInt8]?)], _ node: String) -> [JobLease] {
        rows.withLock { rows in
            leases.compactMap { lease, status in
                guard let row = rows[lease.job], isHeld(row, lease, node) else { return nil }
                rows[lease.job] = Row(node: node, term: lease.term, until: now() + Self.term, status: status)
                return lease
            }
        }
    }

    func release(_ leases: [JobLease], _ node: String) {
        rows.withLock { rows in
            for lease in leases {
                if let row = rows[lease.job], isHeld(row, lease, node) { rows[lease.job]?.until = now() }
            }
        }
    }

    func all() -> [LeasedJob] {
        rows.withLock { rows in
            rows.filter { $0.value.until > now() }.sorted { $0.key < $1.key }
                .map { LeasedJob(job: $0.key, node: $0.value.node, status: $0.value.status) }
        }
    }

    private func isHeld(_ row: Row, _ lease: JobLease, _ node: String) -> Bool {
        row.node == node && row.term == lease.term && row.until > now()
    }
}
