internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

extension ReplicatorDocuments {
    /// As `_scheduler/docs` shows a document: by its job, or by the note in it; `nil` for one that is neither.
    func json(_ origin: ReplicationJob.Origin, _ members: JSONObject) -> JSON? {
        if let json = json(origin) { return json }
        guard let state = members["_replication_state"]?.string, ["completed", "failed"].contains(state) else {
            return nil
        }
        let time = members["_replication_state_time"] ?? .null
        var (info, start) = (JSON.null, time)
        if state == "completed" {
            var statistics = members["_replication_stats"]?.object ?? JSONObject()
            start = statistics["start_time"] ?? .null
            statistics["start_time"] = nil
            info = .object(statistics)
        } else if let reason = members["_replication_state_reason"] {
            info = ["error": reason]
        }
        return [
            "database": .string(origin.database), "doc_id": .string(origin.document.string), "id": .null,
            "node": "nonode@nohost", "source": ReplicationDocument.shownAddress(members["source"]),
            "target": ReplicationDocument.shownAddress(members["target"]), "state": .string(state), "info": info,
            "error_count": state == "failed" ? 1 : 0, "start_time": start, "last_updated": time,
        ]
    }
}
