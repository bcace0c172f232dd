internal import SettleCore
internal import SettlePlatform
internal import SettleReplication

/// A replication that the server has to run.
///
///     pending ──▶ running ──▶ it ended: completed, or failed and there is nobody to try again for: the job is gone
///        ▲          │  │
///        │          │  └────▶ crashing    it failed, and waits longer each time
///        └── turn ──┘             │
///        ▲────────────────────────┘
struct ReplicationJob: Sendable {
    /// Where a job comes from, if not from a request.
    struct Origin: Hashable, Sendable {
        /// The replicator's database.
        let database: String
        /// The document in it.
        let document: DocumentID
    }

    /// What happened to a job.
    struct Event: Sendable {
        let time: WallTime
        let kind: String
        var reason: String?
    }

    /// What it does now.
    enum Phase: Sendable {
        /// It waits for its turn.
        case pending
        /// It runs.
        case running
        /// It failed and waits before it is tried again.
        case crashing
    }

    /// The replication's name, with `+continuous` and the like behind it.
    let id: String
    /// What it is to do.
    let document: ReplicationDocument
    /// The document it comes from.
    let origin: Origin?
    /// Who asked for it.
    let user: String?
    /// Whether they are an administrator of the server.
    let isAdmin: Bool
    /// When it was made.
    let start = WallTime.now()
    var updated = WallTime.now()
    var phase = Phase.pending
    /// How often it failed in a row.
    var failures = 0
    /// Why it failed last.
    var problem: String?
    /// What happened, newest first.
    private(set) var history: [Event]
    /// Counts the runs, so that the end of an earlier one is not taken for the present one's.
    var run = 0
    var runStart = ContinuousClock.now
    /// Whether it is being stopped to make room for others.
    var isMakingRoom = false
    /// What does the work, while it runs.
    var replicator: Replicator?
    /// The run, to wait for.
    var task: Task<Void, Never>?
    /// How it was doing when it last ran.
    var last = ReplicationStatus.Seen()
    /// Who waits for its end: requests.
    var waiters: [@Sendable (Result<ReplicationResult, PeerError>) -> Void] = []

    private static let mostEvents = 20

    init(id: String, document: ReplicationDocument, origin: Origin?, user: String?, isAdmin: Bool) {
        (self.id, self.document, self.origin, self.user, self.isAdmin) = (id, document, origin, user, isAdmin)
        history = [Event(time: start, kind: "added")]
    }

    /// The name of a replication as a job: what makes two of them different things to stop.
    static func id(_ replication: String, _ document: ReplicationDocument) -> String {
        replication + (document.isContinuous ? "+continuous" : "") + (document.createsTarget ? "+create_target" : "")
    }

    /// Writes down what happened.
    mutating func note(_ kind: String, _ reason: String? = nil) {
        updated = WallTime.now()
        history.insert(Event(time: updated, kind: kind, reason: reason), at: 0)
        if history.count > Self.mostEvents { history.removeLast() }
    }

    /// How it is doing now, or was.
    var seen: ReplicationStatus.Seen { replicator.map { ReplicationStatus.Seen($0.status) } ?? last }

    /// CouchDB's word for what it does: one that runs and can't reach a peer is crashing there.
    var state: String {
        switch phase {
        case .pending: "pending"
        case .running: seen.problem == nil ? "running" : "crashing"
        case .crashing: "crashing"
        }
    }
}

extension ReplicationStatus {
    /// Whether a run has done more than its first requests.
    var hasBegun: Bool { completed > 0 || mode == .idle || mode == .offline }

    /// What is shown of a status.
    struct Seen: Sendable {
        var counts = ReplicationCounts()
        var pending: Int?
        var position = PeerSequence.start
        var checkpointed = PeerSequence.start
        /// Why a peer can't be reached.
        var problem: String?

        init() {}

        init(_ status: ReplicationStatus) {
            counts = status.counts
            pending = max(0, status.total - status.completed)
            (position, checkpointed) = (status.position, status.checkpointed)
            problem = status.mode == .offline ? status.error?.message : nil
        }
    }
}
