internal import SettleCore

/// One checkpoint in a replication's log: an entry of CouchDB's `history`.
///
/// CouchDB writes one entry per session and updates it. Here each checkpoint is an entry with its own session id, the
/// same on both sides. The newest entry that both sides have is therefore a position up to which both are unchanged,
/// even if one of them was restored from a backup.
struct CheckpointEntry: Hashable, Sendable {
    /// The checkpoint's own session id.
    let sessionID: String
    /// How many checkpoints preceded it; 0 in an entry that Settle did not write.
    let number: Int
    /// The position up to which everything is stored.
    let recorded: PeerSequence
    /// Counts of the run so far, and times, as CouchDB has them.
    let json: JSONValue

    /// Reads an entry; `nil` if it is invalid.
    init?(_ json: JSONValue) {
        guard let sessionID = json["session_id"]?.string, let recorded = json["recorded_seq"] else { return nil }
        self.sessionID = sessionID
        self.recorded = PeerSequence(recorded)
        number = StoredCount.of(json["number"])
        self.json = json
    }

    /// Makes an entry.
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
