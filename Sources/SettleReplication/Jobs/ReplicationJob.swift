package import SettleCore
package import SettleHTTP
package import SettlePlatform

/// The state of one replication of a ``ReplicationScheduler`` at one moment.
package struct ReplicationJob: Sendable {
    /// The document from which a job comes.
    package struct Origin: Hashable, Sendable {
        /// The replicator's database.
        package let database: String
        /// The document in it.
        package let document: DocumentID

        package init(database: String, document: DocumentID) { (self.database, self.document) = (database, document) }
    }

    /// An event in a job's history.
    package struct Event: Sendable {
        package let time: WallTime
        /// `added`, `started`, `stopped` or `crashed`.
        package let kind: String
        package var reason: String?
    }

    /// The place where a job runs.
    package enum Place: Hashable, Sendable {
        /// On this node.
        case here
        /// On another node.
        case node(String)
        /// On no node: it waits for one.
        case nowhere
    }

    /// Called with the outcome when a job is done.
    package typealias Waiter = @Sendable (Result<ReplicationResult, PeerError>) -> Void

    /// The replication's id, followed by `+continuous` and `+create_target`.
    package let id: String
    /// The replication to run.
    package let document: ReplicationDocument
    /// The document that defines it; `nil` for a request.
    package let origin: Origin?
    /// The name of the user who started it.
    package let user: String?
    /// Sends its requests.
    let client: any HTTPTransport
    /// The time at which it was added.
    package internal(set) var start = WallTime.now()
    /// The time of its last change.
    package internal(set) var updated = WallTime.now()
    /// The newest events, newest first.
    package internal(set) var history: [Event]
    /// The node that runs it.
    package internal(set) var place = Place.here
    /// Its current state. A running job that can't reach a peer is crashing, as in CouchDB.
    package internal(set) var state = ReplicationState.pending
    /// Whether a run has begun and not ended.
    package internal(set) var isRunning = false
    /// The status of the current or last run; `nil` before the first.
    package internal(set) var status: ReplicationStatus?
    /// The documents that its last run could not replicate.
    var ledger = ReplicationLedger()
    /// The number of its last run; 0 before the first.
    package internal(set) var run = 0
    /// The number of consecutive failures.
    package internal(set) var failures = 0
    /// The reason of the last failure.
    var failure: String?
    /// The statistics that the node that runs it has stored.
    var toldStatistics: [(String, JSONValue)]?
    /// The requests that wait for its end.
    var waiters: [Waiter] = []

    private static let maximumEvents = 20

    package init(
        id: String, document: ReplicationDocument, origin: Origin?, user: String?, client: any HTTPTransport
    ) {
        (self.id, self.document, self.origin, self.user, self.client) = (id, document, origin, user, client)
        history = [Event(time: start, kind: "added")]
    }

    /// Whether it is run again after a failure.
    var isRetried: Bool { origin != nil || document.isContinuous }

    /// The reason of the last failure, or why a peer can't be reached.
    package var problem: String? { status?.absence ?? failure }

    /// The statistics in CouchDB's form; `nil` before the first run.
    package var statistics: [(String, JSONValue)]? { toldStatistics ?? status?.statistics }

    /// Records the end of a run.
    mutating func record(_ status: ReplicationStatus?, _ result: Result<ReplicationResult, PeerError>) {
        if let status { self.status = status }
        guard case .success(let result) = result, self.status != nil else { return }
        if let number = result.log?["source_last_seq"] { self.status?.checkpointed = PeerSequence(number) }
        self.status?.position = result.end
    }

    /// Records an event.
    mutating func addEvent(_ kind: String, _ reason: String? = nil) {
        updated = WallTime.now()
        history.insert(Event(time: updated, kind: kind, reason: reason), at: 0)
        if history.count > Self.maximumEvents { history.removeLast() }
    }
}

extension ReplicationStatus {
    /// The reason why a peer can't be reached.
    var absence: String? { mode == .offline ? error?.message : nil }

    /// The progress in the schedule's terms.
    var progress: ReplicationSchedule.Progress {
        if mode == .offline { return .away }
        return completed > 0 || mode == .idle ? .working : .beginning
    }

    /// Whether the run has copied something, or waits for changes.
    var hasWorked: Bool { progress == .working || counts.revisionsChecked > 0 }

    /// The statistics in CouchDB's form.
    var statistics: [(String, JSONValue)] {
        let numbers = [
            ("revisions_checked", counts.revisionsChecked), ("missing_revisions_found", counts.revisionsMissing),
            ("docs_read", counts.revisionsRead), ("docs_written", counts.revisionsWritten),
            ("doc_write_failures", counts.revisionsRefused + counts.revisionsFailed),
            ("changes_pending", max(0, total - completed)),
        ]
        return numbers.map { ($0, .number(JSONNumber($1))) } + [
            ("source_seq", position.json), ("through_seq", position.json),
            ("checkpointed_source_seq", checkpointed.json),
        ]
    }
}

// MARK: - ReplicationState

/// The state of a replication that a server or a database stores: CouchDB's states, and `paused`.
public enum ReplicationState: String, Sendable, Hashable, CaseIterable {
    /// A server has not read it yet.
    case initializing
    /// It can't start, for example because an equal replication is running.
    case error
    /// It waits: in a server for its turn, in a database to be started.
    case pending
    /// It is running.
    case running
    /// It failed or can't reach a peer, and will be retried.
    case crashing
    /// It was one-shot, and has completed.
    case completed
    /// It can never run, because the stored document describes no replication, or one that is not allowed.
    case failed
    /// It was paused, and does not start until it is resumed.
    case paused
}

// MARK: - JobStatus

/// The status that a node stores with the lease of a replication, so that other nodes can show it. It contains no
/// addresses, which the other nodes know, and no secrets.
struct JobStatus: Sendable {
    /// The maximum number of events that are stored.
    private static let maximumEvents = 8
    /// The maximum number of characters of a stored reason.
    private static let longestReason = 200

    /// The document that defines the replication.
    let document: DocumentID
    private let members: JSONValue

    /// Creates the status of a document's job.
    init?(_ job: ReplicationJob) {
        guard let document = job.origin?.document else { return nil }
        self.document = document
        var members: JSONObject = [
            "doc_id": .string(document.string), "state": .string(job.state.rawValue), "running": .bool(job.isRunning),
            "run": .number(JSONNumber(job.run)), "failures": .number(JSONNumber(job.failures)),
            "start": .number(JSONNumber(job.start.seconds)), "updated": .number(JSONNumber(job.updated.seconds)),
            "history": .array(job.history.prefix(Self.maximumEvents).map(Self.json)),
        ]
        members["error"] = job.problem.map { .string(String($0.prefix(Self.longestReason))) }
        members["statistics"] = job.statistics.map { .object(JSONObject($0)) }
        self.members = .object(members)
    }

    /// Reads a stored status; `nil` for any other content.
    init?(_ bytes: [UInt8]) {
        guard let members = try? JSONValue(parsing: String(decoding: bytes, as: UTF8.self)),
            let document = members["doc_id"]?.string
        else { return nil }
        (self.document, self.members) = (DocumentID(unchecked: document), members)
    }

    /// The stored form.
    var bytes: [UInt8] { Array(members.description.utf8) }

    /// Copies the status into a document's job.
    func show(in job: inout ReplicationJob) {
        job.state = members["state"]?.string.flatMap(ReplicationState.init(rawValue:)) ?? .pending
        job.isRunning = members["running"]?.bool ?? false
        job.run = members["run"]?.number?.int ?? 0
        job.failures = members["failures"]?.number?.int ?? 0
        job.failure = members["error"]?.string
        job.start = Self.time(members["start"]) ?? job.start
        job.updated = Self.time(members["updated"]) ?? job.updated
        job.toldStatistics = members["statistics"]?.object.map { $0.map { ($0.name, $0.value) } }
        job.history = (members["history"]?.array ?? []).compactMap(Self.event)
    }

    private static func json(_ event: ReplicationJob.Event) -> JSONValue {
        var members: JSONObject = ["time": .number(JSONNumber(event.time.seconds)), "kind": .string(event.kind)]
        members["reason"] = event.reason.map { .string(String($0.prefix(longestReason))) }
        return .object(members)
    }

    private static func event(_ json: JSONValue) -> ReplicationJob.Event? {
        guard let time = time(json["time"]), let kind = json["kind"]?.string else { return nil }
        return ReplicationJob.Event(time: time, kind: kind, reason: json["reason"]?.string)
    }

    private static func time(_ json: JSONValue?) -> WallTime? { json?.number?.int.map { WallTime(seconds: $0) } }
}
