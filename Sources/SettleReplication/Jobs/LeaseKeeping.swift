internal import SettleCore
internal import SettleDatabase

/// Decides which replications a node runs, if several nodes could run them: a job runs on the node that has its
/// lease.
///
///     free ──take──▶ asked ──▶ held: its run begins ──▶ leaving: its run is ended ──▶ released
///                      │          │                        │
///                      ▼          └────────────┬───────────┘
///                  not given                  lost: the lease ran out, or is another node's: the run is ended at once
///
/// Every 2 seconds a node looks at the leases of all nodes. It takes jobs that are free, as long as it has room for their runs:
///
/// - The jobs that were free for the longest time come first. A node takes a job at once if it is preferred among
///   the known nodes (``LeaseName/rank(of:)``), and any other job that is still free at its next look. Each node
///   has a lease of its own, which makes it known to the other nodes, and takes no jobs before its second look.
/// - When jobs are free for longer than two looks, no node has room. A node without room then ends runs that had
///   their turn, oldest first, as many as jobs wait, and gives their leases back. So a job that waits for its next
///   turn keeps its lease only while no job without a lease waits. A job that waits to be retried after a failure
///   takes up no room, and keeps its lease.
///
/// Leases are renewed every 5 seconds. A lease's age counts from the request of its newest successful renewal. The
/// run ends when the age reaches ``JobLease/stopAfter``, which is before the storage gives the lease to another
/// node.
///
/// The value makes no calls and knows no clock. An executor reports each event with its time and performs the returned actions.
struct LeaseKeeping: Sendable {
    /// The state of a job on this node.
    enum Standing: Sendable {
        /// It neither runs nor waits for its turn, and takes up no room.
        case resting
        /// It runs, or waits to run in this turn.
        case working
        /// It is continuous, and has had its turn.
        case served
    }

    enum Event: Sendable {
        /// A document needs a job. Several documents may need the same job.
        case wanted(LeaseName)
        /// A document no longer needs a job.
        case unwanted(LeaseName)
        /// Time has passed. The value has the states of this node's jobs.
        case time([LeaseName: Standing])
        /// The names that are leased in a database, with their nodes; `nil` if they can't be read.
        case listed(String, [LeaseName: String]?)
        /// The leases that were taken in a database; empty if that failed.
        case took(String, [JobLease])
        /// The renewed leases of a database that still belong to this node; `nil` if renewing failed.
        case renewed(String, [JobLease]?)
        /// A job can't start here at the moment.
        case refused(LeaseName)
        /// A run that had to end has ended, or did not exist.
        case ended(LeaseName, run: Int)
        /// No more jobs may start.
        case stopping
        /// All runs have ended.
        case stopped
    }

    enum Action: Sendable, Equatable {
        /// Read the leases of a database.
        case list(String)
        /// Take leases, the first ones first.
        case take(String, [LeaseName])
        /// Renew leases.
        case renew(String, [LeaseName: JobLease])
        /// Return leases.
        case release(String, [JobLease])
        /// Start the job of a lease.
        case start(LeaseName, run: Int)
        /// End a run after it has stored what it has fetched, and report ``Event/ended(_:run:)``.
        case stop(LeaseName, run: Int)
        /// End a run at once, even if it is already ending, and report ``Event/ended(_:run:)``.
        case suspend(LeaseName, run: Int)
    }

    /// A lease that is wanted, or was wanted and still has a run.
    struct Wish {
        /// The number of documents that want it.
        var count = 0
        /// The time since which no node is known to have it.
        var freeSince: Duration?
        /// Whether a request for it has not been answered yet.
        var isAsked = false
    }

    /// A lease of this node, and the run that it allows.
    struct Holding {
        /// The lease; `nil` once it is lost.
        var lease: JobLease?
        /// The time at which its newest successful renewal was requested.
        var renewed: Duration
        /// Whether its status was never stored.
        var isNew = true
        /// The number of the run.
        let run: Int
        let start: Duration
        var isLeaving = false
    }

    /// A database, and its unanswered calls.
    struct Place {
        /// An unanswered call: its content, and the time of the request.
        struct Call<Content: Sendable>: Sendable {
            let content: Content
            let sent: Duration
        }

        /// The number of wishes in the database.
        var count = 0
        /// The nodes that have leases.
        var nodes: Set<String> = []
        /// Whether other nodes know of this one.
        var isKnown = false
        var isListing = false
        var taking: Call<[LeaseName]>?
        var renewing: Call<[LeaseName: JobLease]>?
    }

    /// The time between two looks at the leases of all nodes.
    static var look: Duration { .seconds(2) }
    /// The age at which a lease is renewed.
    static var renewal: Duration { .seconds(5) }

    let node: String
    let room: Int
    var wishes: [LeaseName: Wish] = [:]
    var holdings: [LeaseName: Holding] = [:]
    var places: [String: Place] = [:]
    var standings: [LeaseName: Standing] = [:]
    var lastLook: Duration?
    var lastRun = 0
    var isStopping = false

    /// Creates a value without leases.
    ///
    /// - Parameters:
    ///   - node: The name of this node.
    ///   - room: The maximum number of runs at the same time, at least one.
    init(node: String, room: Int) { (self.node, self.room) = (node, max(1, room)) }

    /// The lease of a name, if this node has it at that time, even while its run is ending.
    func lease(of name: LeaseName, at now: Duration) -> JobLease? {
        holdings[name].flatMap { now - $0.renewed < JobLease.stopAfter ? $0.lease : nil }
    }

    /// Whether a run may begin at that time.
    func allows(_ name: LeaseName, at now: Duration) -> Bool {
        lease(of: name, at: now) != nil && holdings[name]?.isLeaving == false
    }

    /// The time for the next ``Event/time(_:)`` if nothing else happens; `nil` for never.
    func nextTime(after now: Duration) -> Duration? {
        guard !wishes.isEmpty || !holdings.isEmpty else { return nil }
        let ends = holdings.values.filter { $0.lease != nil }.map { $0.renewed + JobLease.stopAfter }
        return min(lastLook.map { $0 + Self.look } ?? now, ends.min() ?? .seconds(Int64.max / 2))
    }

    /// Handles an event, and returns the next actions in order.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The time since any fixed moment, by a clock that continues while the process is suspended.
    /// - Returns: The actions.
    mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        // After a suspension, leases may have expired; that comes before anything else.
        let lost = endOldLeases(now)
        return lost + actions(for: event, now)
    }

    private mutating func actions(for event: Event, _ now: Duration) -> [Action] {
        switch event {
        case .wanted(let name):
            want(name)
            return []
        case .unwanted(let name): return unwant(name)
        case .time(let standings):
            self.standings = standings
            lastLook = now
            return renewals(now) + looks()
        case .listed(let database, let nodes):
            places[database]?.isListing = false
            guard let nodes, places[database] != nil, !isStopping else { return [] }
            record(nodes, of: database, now)
            return acquire(in: database, now) + endTurns(now)
        case .took(let database, let leases): return took(leases, in: database, now)
        case .renewed(let database, let kept): return renewed(kept, in: database)
        case .refused(let name): return holdings[name]?.isLeaving == false ? leave(name) : []
        case .ended(let name, let run): return ended(name, run, now)
        case .stopping:
            isStopping = true
            return []
        case .stopped:
            let leases = Dictionary(grouping: holdings) { $0.key.database }
            (wishes, holdings, places, isStopping) = ([:], [:], [:], true)
            return leases.sorted { $0.key < $1.key }.map { .release($0.key, $0.value.compactMap(\.value.lease)) }
        }
    }
}

// MARK: - LeaseName

/// A lease's name in one database: the purpose of the lease.
struct LeaseName: Hashable, Sendable {
    /// The kinds of leases, with the words that distinguish them from the database's other jobs in the storage.
    enum Kind: String, Sendable {
        /// The right to run a replication.
        case run = "replication"
        /// The right to record in a document that its replication can never run.
        case note = "replication-note"
        /// The sign that a node runs replications, which makes it known to other nodes.
        case node = "replication-node"
    }

    /// The name of the database.
    let database: String
    /// The kind.
    let kind: Kind
    private let exactID: ExactText

    /// The id of the replication as a job, of the document, or the name of the node.
    var id: String { exactID.string }

    init(_ database: String, _ kind: Kind, _ id: String) {
        (self.database, self.kind, exactID) = (database, kind, ExactText(id))
    }

    /// Parses a name in the storage; `nil` for a job of another kind.
    init?(_ database: String, job: String) {
        guard let mark = job.utf8.firstIndex(of: UInt8(ascii: "/")), let kind = Kind(rawValue: String(job[..<mark]))
        else { return nil }
        self.init(database, kind, String(job[job.utf8.index(after: mark)...]))
    }

    /// The name under which the storage has the lease.
    var job: String { "\(kind.rawValue)/\(id)" }

    /// The rank of a node for this name; the node with the highest rank is preferred. All nodes compute the same
    /// ranks, and each node is preferred for about as many names.
    func rank(of node: String) -> UInt64 {
        // FNV-1a; the last step spreads a difference in the last bytes over all bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(node)\u{0}\(job)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15
        return hash ^ hash >> 29
    }
}

extension LeaseName: Comparable {
    static func < (left: LeaseName, right: LeaseName) -> Bool {
        (left.database, left.kind.rawValue, left.exactID) < (right.database, right.kind.rawValue, right.exactID)
    }
}
