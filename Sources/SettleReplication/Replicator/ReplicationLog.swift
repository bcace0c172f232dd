internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform
internal import SettleQuery

/// One side's log of a replication, in CouchDB's format.
///
///     {"session_id": "…", "source_last_seq": …, "replication_id_version": 1, "history": [newest, …, oldest],
///      "settle": {"source": "instance", "target": "instance", "only": "target"}}
///
/// The member `settle` is an extension. It contains the instances of both databases, and the name of the only side
/// with a log if the other side does not allow one.
struct ReplicationLog: Hashable, Sendable {
    /// Checkpoints, newest first.
    var history: [CheckpointEntry]
    /// The source's instance at the newest checkpoint, if the source reports one.
    var sourceInstance: String?
    /// The target's instance at the newest checkpoint, if the target reports one.
    var targetInstance: String?
    /// The only side that keeps the log, if the other side does not allow one.
    var onlySide: String?

    /// The maximum number of checkpoints.
    static let maximumHistory = 50

    /// Creates an empty log.
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

    /// Adds a checkpoint at the front, and drops an older one when there are too many.
    ///
    /// The newest entries stay; older ones become sparser with age. The dropped entry is the one that leaves the
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

    /// The gap that dropping an entry would leave, relative to its age.
    private func gap(without index: Int) -> Double {
        let gap = history[index - 1].number - history[index + 1].number
        return Double(gap) / Double(max(1, history[0].number - history[index].number))
    }
}

// MARK: - CheckpointEntry

/// One checkpoint in a replication's log: an entry of CouchDB's `history`.
///
/// CouchDB writes one entry per session and updates it. Here each checkpoint is an entry with its own session id, the
/// same on both sides. The newest entry that both sides have is therefore a position up to which both are unchanged,
/// even if one of them was restored from a backup.
struct CheckpointEntry: Hashable, Sendable {
    /// The checkpoint's own session id.
    let sessionID: String
    /// The number of earlier checkpoints; 0 in an entry that Settle did not write.
    let number: Int
    /// The position up to which everything is stored.
    let recorded: PeerSequence
    /// The counts of the run so far, and times, in CouchDB's form.
    let json: JSONValue

    /// Reads an entry; `nil` if it is invalid.
    init?(_ json: JSONValue) {
        guard let sessionID = json["session_id"]?.string, let recorded = json["recorded_seq"] else { return nil }
        self.sessionID = sessionID
        self.recorded = PeerSequence(recorded)
        number = StoredCount.of(json["number"])
        self.json = json
    }

    /// Creates an entry.
    init(
        sessionID: String, number: Int, started: String, ended: String, from: PeerSequence, to: PeerSequence,
        _ counts: ReplicationCounts
    ) {
        self.sessionID = sessionID
        self.number = number
        recorded = to
        json = [
            "session_id": .string(sessionID), "start_time": .string(started), "end_time": .string(ended),
            "start_last_seq": from.json, "end_last_seq": to.json, "recorded_seq": to.json,
            "missing_checked": .number(JSONNumber(counts.revisionsChecked)),
            "missing_found": .number(JSONNumber(counts.revisionsMissing)),
            "docs_read": .number(JSONNumber(counts.revisionsRead)),
            "docs_written": .number(JSONNumber(counts.revisionsWritten)),
            "doc_write_failures": .number(JSONNumber(counts.revisionsRefused + counts.revisionsFailed)),
            "number": .number(JSONNumber(number)),
        ]
    }
}

// MARK: - ReplicationID

/// The id of a replication, under which both sides keep its log.
///
/// It depends on the meaning of the replication: its source, its target and its filter. The spelling of a URL or
/// selector, the password, and whether the replication is continuous don't matter (SEMANTICS 134), so a replication
/// that is configured again continues where it stopped. The code of a filter function does matter: a changed
/// function must be applied to all documents.
struct ReplicationID: Hashable, Sendable, CustomStringConvertible {
    /// The version of the algorithm. Another version computes other ids.
    static let version = 1

    /// 32 hexadecimal digits.
    let description: String

    /// Computes the id of a replication.
    ///
    /// - Parameters:
    ///   - source: The identity of the source.
    ///   - target: The identity of the target.
    ///   - filter: The documents to replicate.
    ///   - filterCode: The code of the filter function at the source, if there is one and it is readable.
    ///   - branching: Whether edits become branches at the target.
    ///   - replicatesOnlyWinners: Whether losing leaves stay at the source.
    ///   - since: The position to start after.
    init(
        source: String, target: String, filter: ReplicationFilter, filterCode: String? = nil, branching: Branching,
        replicatesOnlyWinners: Bool = false, since: PeerSequence? = nil
    ) {
        var meaning: JSONObject = [
            "version": .number(JSONNumber(Self.version)), "source": .string(source), "target": .string(target),
            "filter": Self.meaning(of: filter), "branching": .bool(branching == .allowed),
        ]
        if replicatesOnlyWinners { meaning["winners"] = true }
        meaning["since"] = since?.json
        meaning["filter_code"] = filterCode.map(JSONValue.string)
        let hash = SHA256()
        JSONValue.object(meaning).utf8.withUnsafeBytes { hash.update($0) }
        description = Hexadecimal.encode(hash.finish().prefix(16))
    }

    /// The id of the document with the log.
    var logID: DocumentID { DocumentID(unchecked: "_local/\(description)") }

    /// The local document that holds a database's ``ReplicationLedger``.
    var ledgerID: DocumentID { DocumentID(unchecked: "_local/settle-ledger-\(description)") }

    /// A filter in one canonical form, whatever its spelling.
    static func meaning(of filter: ReplicationFilter) -> JSONValue {
        switch filter {
        case .all: ["all": true]
        case .documents(let ids): ["documents": .array(Set(ids).sorted().map { .string($0.string) })]
        case .selector(let selector): ["selector": canonical(selector.json)]
        case .named(let name, let parameters):
            [
                "named": .string(name),
                "parameters": .object(
                    JSONObject(parameters.sorted { $0.key < $1.key }.map { ($0.key, canonical($0.value)) })),
            ]
        case .channels(let channels):
            ["channels": .array(Set(channels.map(ExactText.init)).sorted().map { .string($0.string) })]
        }
    }

    /// The same JSON with all members sorted by name.
    private static func canonical(_ json: JSONValue) -> JSONValue {
        switch json {
        case .object(let members):
            .object(JSONObject(members.sorted { $0.name < $1.name }.map { ($0.name, canonical($0.value)) }))
        case .array(let elements): .array(elements.map(canonical))
        default: json
        }
    }
}
