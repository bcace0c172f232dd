internal import SettleCore
internal import SettlePlatform

/// What a node stores with the lease of a replication, so that other nodes can show it: no addresses, which they have
/// themselves, and no secrets.
struct JobStatus: Sendable {
    /// How many of the newest events are stored.
    private static let mostEvents = 8
    /// How many characters of a reason are stored.
    private static let longestReason = 200

    /// The document whose replication it is.
    let document: DocumentID
    private let members: JSONValue

    /// The status of a job that comes from a document.
    init?(_ job: ReplicationJob) {
        guard let document = job.origin?.document else { return nil }
        self.document = document
        var members: JSONObject = [
            "doc_id": .string(document.string), "state": .string(job.state.rawValue), "running": .bool(job.isRunning),
            "run": .number(JSONNumber(job.run)), "failures": .number(JSONNumber(job.failures)),
            "start": .number(JSONNumber(job.start.seconds)), "updated": .number(JSONNumber(job.updated.seconds)),
            "history": .array(job.history.prefix(Self.mostEvents).map(Self.json)),
        ]
        members["error"] = job.problem.map { .string(String($0.prefix(Self.longestReason))) }
        members["statistics"] = job.statistics.map { .object(JSONObject($0)) }
        self.members = .object(members)
    }

    /// Reads what a node has stored; `nil` if it is nothing of the kind.
    init?(_ bytes: [UInt8]) {
        guard let members = try? JSONValue(parsing: String(decoding: bytes, as: UTF8.self)),
            let document = members["doc_id"]?.string
        else { return nil }
        (self.document, self.members) = (DocumentID(unchecked: document), members)
    }

    /// What is stored.
    var bytes: [UInt8] { Array(members.description.utf8) }

    /// Makes a job of the document show what is stored.
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
