internal import SettleCore

/// The log of a replication as one side keeps it, in CouchDB's format.
///
///     {"session_id": "…", "source_last_seq": …, "replication_id_version": 1, "history": [newest, …, oldest],
///      "settle": {"source": "instance", "target": "instance", "only": "target"}}
///
/// The member `settle` is an extension: the instances of both databases, and which side alone keeps the log if the
/// other side does not allow one.
struct ReplicationLog: Hashable, Sendable {
    /// Checkpoints, newest first.
    var history: [CheckpointEntry]
    /// The source's instance at the newest checkpoint, if the source reports one.
    var sourceInstance: String?
    /// The target's instance at the newest checkpoint, if the target reports one.
    var targetInstance: String?
    /// The only side that keeps the log, if the other side does not allow one.
    var onlySide: String?

    /// How many checkpoints are kept.
    static let maximumHistory = 50

    /// Makes an empty log.
    init() { history = [] }

    /// Reads a log; invalid entries are skipped.
    init(_ json: JSONValue) {
        history = (json["history"]?.array ?? []).compactMap { CheckpointEntry($0) }
        sourceInstance = json["settle"]?["source"]?.string
        targetInstance = json["settle"]?["target"]?.string
        onlySide = json["settle"]?["only"]?.string
    }

    /// The log as a local document.
    var json: JSONValue {
        var settle = JSONObject()
        settle["source"] = sourceInstance.map(JSONValue.string)
        settle["target"] = targetInstance.map(JSONValue.string)
        settle["only"] = onlySide.map(JSONValue.string)
        var members: JSONObject = [
            "replication_id_version": .number(JSONNumber(ReplicationID.version)),
            "history": .array(history.map(\.json)),
        ]
        if let newest = history.first {
            members["session_id"] = .string(newest.sessionID)
            members["source_last_seq"] = newest.recorded.json
        }
        if !settle.isEmpty { members["settle"] = .object(settle) }
        return .object(members)
    }

    /// Adds a checkpoint at the front, and drops one of the older ones when there are too many.
    ///
    /// The newest entries stay; older ones become sparser with age. The entry dropped is the one that leaves the
    /// smallest gap for its age, counted in checkpoints. So a backup of any age finds a checkpoint that is not much
    /// older than itself.
    ///
    /// - Complexity: O(*n*) in entries kept.
    mutating func add(_ entry: CheckpointEntry) {
        history.insert(entry, at: 0)
        guard history.count > Self.maximumHistory else { return }
        let last = history.count - 1
        let victim = (Self.newestKept..<last).min { gap(without: $0) < gap(without: $1) }
        history.remove(at: victim ?? last)
    }

    private static let newestKept = 10

    /// The gap that dropping an entry would leave, in relation to its age.
    private func gap(without index: Int) -> Double {
        let gap = history[index - 1].number - history[index + 1].number
        return Double(gap) / Double(max(1, history[0].number - history[index].number))
    }
}
