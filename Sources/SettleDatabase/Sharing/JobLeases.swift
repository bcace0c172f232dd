/// The right of one node to run a job of a database that several nodes share.
public struct JobLease: Sendable, Hashable {
    /// The job's name, unique in its database.
    public let job: String
    /// The number of times that the job has changed its node. A later term ends what an earlier one allowed.
    public let term: Int64

    /// Creates a lease.
    public init(job: String, term: Int64) { (self.job, self.term) = (job, term) }

    /// The time that a node may go on after it sent its last successful renewal.
    public static var stopAfter: Duration { .seconds(10) }
}

/// The leases of a database's jobs, kept where all nodes see them.
///
///     node A   take ── renew ── renew ── (killed)
///     node B   take: refused ─────────────────── 15 s after the last renewal: take, with the next term
///
/// Only the clock of the storage counts. A node that can't renew stops its job ``JobLease/stopAfter`` after it sent the last renewal
/// that succeeded, before another node can take it. What a job writes names its lease (``StorageWriter/require(_:)``), so a node that
/// slept through its term writes nothing.
public protocol JobLeases: Sendable {
    /// The name of this node.
    var node: String { get }

    /// Takes jobs that no node has, or whose lease has run out.
    ///
    /// - Parameters:
    ///   - jobs: The wanted jobs, the most urgent first.
    ///   - count: How many are taken at most.
    /// - Returns: The leases taken, which end 15 seconds from now unless renewed.
    /// - Throws: ``DatabaseError`` with code `unavailable`; nothing is taken then, or taken and not used.
    func take(_ jobs: [String], atMost count: Int) throws -> [JobLease]

    /// Prolongs leases, and stores what other nodes show of their jobs.
    ///
    /// - Returns: The leases that are still this node's.
    func renew(_ leases: [(lease: JobLease, status: [UInt8]?)]) throws -> [JobLease]

    /// Gives leases back, so that other nodes need not wait.
    func release(_ leases: [JobLease]) throws

    /// The jobs that nodes have leases for now, this node's too, in the order of their names.
    func all() throws -> [LeasedJob]
}

/// A job as its lease shows it to all nodes.
public struct LeasedJob: Sendable, Hashable {
    /// The job's name.
    public let job: String
    /// The node that runs it.
    public let node: String
    /// What the node has said about it last.
    public let status: [UInt8]?

    /// Creates a value.
    public init(job: String, node: String, status: [UInt8]?) {
        (self.job, self.node, self.status) = (job, node, status)
    }
}
