internal import SettleCore

/// The right of one node to run a job of a database that several nodes share.
public struct JobLease: Sendable, Hashable {
    /// The job's name, unique in its database.
    public let job: String
    /// The number of times that the job has moved to another node. A later term ends the rights of an earlier one.
    public let term: Int64

    /// Creates a lease.
    public init(job: String, term: Int64) { (self.job, self.term) = (job, term) }

    /// Whether both are of the same term and the same job; names are compared byte for byte.
    public static func == (left: JobLease, right: JobLease) -> Bool {
        left.term == right.term && left.job.hasSameBytes(as: right.job)
    }

    /// The time for which a node may continue after it sent its last successful renewal.
    public static var stopAfter: Duration { .seconds(10) }
}

/// The leases of a database's jobs, stored where all nodes see them.
///
///     node A   take ── renew ── renew ── (killed)
///     node B   take: refused ─────────────────── 15 s after the last renewal: take, with the next term
///
/// Only the clock of the storage counts. A node that can't renew stops its job ``JobLease/stopAfter`` after it sent
/// the last successful renewal, before another node can take the job. Each write of a job names its lease
/// (`LeasingStorage`), so a node whose term has ended in the meantime writes nothing.
public protocol JobLeases: Sendable {
    /// The name of this node.
    var node: String { get }

    /// Takes jobs that no node has, or whose lease has expired.
    ///
    /// - Parameters:
    ///   - jobs: The wanted jobs, the most urgent first.
    ///   - count: The maximum number of jobs to take.
    /// - Returns: The leases that were taken. They end 15 seconds from now, unless they are renewed.
    /// - Throws: ``DatabaseError`` with code `unavailable`. Leases may then have been taken but are not used.
    func take(_ jobs: [String], atMost count: Int) throws -> [JobLease]

    /// Renews leases, and stores the status of their jobs for other nodes.
    ///
    /// - Returns: The leases that are still this node's.
    func renew(_ leases: [(lease: JobLease, status: [UInt8]?)]) throws -> [JobLease]

    /// Releases leases, so that other nodes need not wait for their end.
    func release(_ leases: [JobLease]) throws

    /// The jobs for which nodes have leases now, including this node's, in the order of their names.
    func all() throws -> [LeasedJob]
}

/// The information that all nodes see about a job's lease.
public struct LeasedJob: Sendable, Hashable {
    /// The job's name.
    public let job: String
    /// The node that runs it.
    public let node: String
    /// The last status that the node has reported.
    public let status: [UInt8]?

    /// Creates a value.
    public init(job: String, node: String, status: [UInt8]?) {
        (self.job, self.node, self.status) = (job, node, status)
    }
}
