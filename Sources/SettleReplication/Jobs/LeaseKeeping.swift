internal import SettleDatabase

/// Decides which replications a node runs, of those that several nodes could run: a job runs on a node while it has the lease.
///
///     free ──take──▶ asked ──▶ held: its run begins ──▶ leaving: its run is ended ──▶ released
///                      │          │                        │
///                      ▼          └────────────┬───────────┘
///                  not given                  lost: the lease ran out, or is another node's: the run is ended at once
///
/// Every 2 seconds a node looks at the leases of all nodes. It takes jobs that are free, as long as it has room for their runs:
///
/// - Those that were free for longest come first. A node takes at once the ones for which it is preferred among the nodes
///   there are (``LeaseName/rank(of:)``), and others that are still free at its next look. Each node has a lease of its own, so
///   that the others know of it, and takes no jobs before its second look.
/// - When jobs are free for longer than two looks, no node has room. A node without room then ends runs that had their turn,
///   as many as wait, the oldest first, and gives their leases back. So a job that waits for its next turn keeps its lease
///   only while no job without one waits. A job that waits to be tried again after a failure takes up no room, and keeps it.
///
/// Leases are renewed every 5 seconds. A lease counts from the moment at which its newest successful renewal was asked for, and
/// the run ends when ``JobLease/stopAfter`` has passed since then: before the storage gives it to another node.
///
/// The value makes no calls and knows no clock. An executor reports each event with its time and performs the returned actions.
struct LeaseKeeping: Sendable {
    /// How a job does on this node.
    enum Standing: Sendable {
        /// It neither runs nor waits for its turn, and takes up no room.
        case resting
        /// It runs, or waits for the run of this turn.
        case working
        /// It is continuous, and has had its turn.
        case served
    }

    enum Event: Sendable {
        /// A document asks for a job; several may ask for one.
        case wanted(LeaseName)
        /// A document asks for a job no more.
        case unwanted(LeaseName)
        /// Time has passed. Says how jobs of this node do.
        case time([LeaseName: Standing])
        /// The names that are leased in a database, with their nodes; `nil` if they can't be read.
        case listed(String, [LeaseName: String]?)
        /// What was given in a database of what was asked for; none if it failed.
        case took(String, [JobLease])
        /// The leases of a database that are still this node's; `nil` if they could not be renewed.
        case renewed(String, [JobLease]?)
        /// A job can't start here now.
        case refused(LeaseName)
        /// The run of a job that was to end has ended, or there was none.
        case ended(LeaseName, run: Int)
        /// No job starts from now on.
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
        /// Give leases back.
        case release(String, [JobLease])
        /// Start what a lease allows.
        case start(LeaseName, run: Int)
        /// End it once it has stored what it has, and report ``Event/ended(_:run:)``.
        case stop(LeaseName, run: Int)
        /// End it at once, also if it ends already, and report ``Event/ended(_:run:)``.
        case suspend(LeaseName, run: Int)
    }

    /// What is wanted, or was until its run ends.
    struct Wish {
        /// How many documents ask for it.
        var count = 0
        /// Since when no node is known to have it.
        var freeSince: Duration?
        /// Whether the answer to a request for its lease is awaited.
        var isAsked = false
    }

    /// A lease of this node, with the run that it allows.
    struct Holding {
        /// The lease; `nil` once it is lost.
        var lease: JobLease?
        /// The time at which its last successful renewal was asked for.
        var renewed: Duration
        /// Whether nothing was stored about its status yet.
        var isNew = true
        /// The number of the run.
        let run: Int
        let start: Duration
        var isLeaving = false
    }

    /// A database, and the calls that have not been answered.
    struct Place {
        /// A call with what it is about and when it was asked for.
        struct Call<Content: Sendable>: Sendable {
            let content: Content
            let sent: Duration
        }

        /// The number of wishes that it has.
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
    ///   - room: How many runs there may be at the same time, at least one.
    init(node: String, room: Int) { (self.node, self.room) = (node, max(1, room)) }

    /// The lease of a name, if it is this node's at a time; during the end of a run too.
    func lease(of name: LeaseName, at now: Duration) -> JobLease? {
        holdings[name].flatMap { now - $0.renewed < JobLease.stopAfter ? $0.lease : nil }
    }

    /// Whether a run may begin at a time.
    func allows(_ name: LeaseName, at now: Duration) -> Bool {
        lease(of: name, at: now) != nil && holdings[name]?.isLeaving == false
    }

    /// The time to report the next ``Event/time(_:)``; `nil` for never, as long as nothing else happens.
    func nextTime(after now: Duration) -> Duration? {
        guard !wishes.isEmpty || !holdings.isEmpty else { return nil }
        let ends = holdings.values.filter { $0.lease != nil }.map { $0.renewed + JobLease.stopAfter }
        return min(lastLook.map { $0 + Self.look } ?? now, ends.min() ?? .seconds(Int64.max / 2))
    }

    /// Takes note of an event and returns what to do, in order.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - now: The time since any fixed moment, by a clock that goes on while the process is suspended.
    /// - Returns: What to do.
    mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        // A process that slept must not believe anything before it has looked at the clock.
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

/// What a node wants a lease for, in one database.
struct LeaseName: Hashable, Sendable {
    /// The kinds of leases, with the words by which the storage distinguishes them from other jobs of the database.
    enum Kind: String, Sendable {
        /// The right to run a replication.
        case run = "replication"
        /// The right to write into a document that its replication can never run.
        case note = "replication-note"
        /// The sign that a node runs replications, by which the others know it.
        case node = "replication-node"
    }

    /// The name of the database.
    let database: String
    /// The kind.
    let kind: Kind
    /// The id of the replication as a job, of the document, or the name of the node.
    let id: String

    init(_ database: String, _ kind: Kind, _ id: String) { (self.database, self.kind, self.id) = (database, kind, id) }

    /// Reads a name of the storage; `nil` for a job of another kind.
    init?(_ database: String, job: String) {
        guard let mark = job.firstIndex(of: "/"), let kind = Kind(rawValue: String(job[..<mark])) else { return nil }
        self.init(database, kind, String(job[job.index(after: mark)...]))
    }

    /// The name under which the storage has the lease.
    var job: String { "\(kind.rawValue)/\(id)" }

    /// How well a node suits: of several nodes, the one with the highest rank is preferred. All nodes compute the same ranks,
    /// and each node is preferred for about as many names.
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
        (left.database, left.kind.rawValue, left.id) < (right.database, right.kind.rawValue, right.id)
    }
}
