internal import SettleCore
internal import SettlePlatform
internal import SettleReplication

/// The forms in which a job is shown, never with a password. `here` is the name of this node.
extension ReplicationJob {
    /// The form in `_scheduler/jobs`.
    func json(at here: String) -> JSONValue {
        [
            "database": origin.map { .string($0.database) } ?? .null, "id": .string(id), "pid": pid,
            "source": .string(document.source.shown), "target": .string(document.target.shown),
            "user": user.map(JSONValue.string) ?? .null, "doc_id": origin.map { .string($0.document.string) } ?? .null,
            "info": info,
            "history": .array(
                history.map { event in
                    var members: JSONObject = [
                        "timestamp": .string(event.time.iso8601), "type": .string(event.kind),
                    ]
                    members["reason"] = event.reason.map(JSONValue.string)
                    return .object(members)
                }), "node": node(here), "start_time": .string(start.iso8601),
        ]
    }

    /// The form of the job's document in `_scheduler/docs`.
    func documentJSON(at here: String) -> JSONValue {
        [
            "database": origin.map { .string($0.database) } ?? .null,
            "doc_id": origin.map { .string($0.document.string) } ?? .null, "id": .string(id), "node": node(here),
            "source": .string(document.source.shown), "target": .string(document.target.shown),
            "source_proxy": .null, "target_proxy": .null, "state": .string(state.rawValue), "info": info,
            "error_count": .number(JSONNumber(failures)), "last_updated": .string(updated.iso8601),
            "start_time": .string(start.iso8601),
        ]
    }

    /// The form in `_active_tasks` while the job is running.
    func taskJSON(at here: String) -> JSONValue {
        var members: JSONObject = [
            "node": node(here), "pid": pid, "type": "replication", "user": user.map(JSONValue.string) ?? .null,
            "replication_id": .string(id), "database": origin.map { .string($0.database) } ?? .null,
            "doc_id": origin.map { .string($0.document.string) } ?? .null,
            "source": .string(document.source.shown), "target": .string(document.target.shown),
            "continuous": .bool(document.isContinuous), "checkpoint_interval": .number(JSONNumber(interval)),
            "started_on": .number(JSONNumber(start.seconds)), "updated_on": .number(JSONNumber(WallTime.now().seconds)),
        ]
        for (name, value) in statistics ?? [] { members[name] = value }
        return .object(members)
    }

    private var interval: Int {
        let (seconds, attoseconds) = (document.checkpointInterval ?? .seconds(5)).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    private var pid: JSONValue { isRunning ? .string("<0.\(run).0>") : .null }

    private var info: JSONValue {
        if let problem { return ["error": .string(problem)] }
        return statistics.map { .object(JSONObject($0)) } ?? .null
    }

    /// The node that runs the job; null if the job waits for a node.
    private func node(_ here: String) -> JSONValue {
        switch place {
        case .here: .string(here)
        case .node(let name): .string(name)
        case .nowhere: .null
        }
    }
}

/// The form in which documents of replications are shown.
extension ReplicationService {
    /// The form of a document in `_scheduler/docs`, made from its job or from the result in the document; `nil` if
    /// there is neither.
    func json(_ origin: ReplicationJob.Origin, _ members: JSONObject) -> JSONValue? {
        if let entry = documents.entry(origin) { return json(origin, entry) }
        let state = ReplicationDocument.state(of: members)
        guard [.completed, .failed].contains(state) else { return nil }
        let time = members["_replication_state_time"] ?? .null
        var (info, start) = (JSONValue.null, time)
        if state == .completed {
            var statistics = members["_replication_stats"]?.object ?? JSONObject()
            start = statistics["start_time"] ?? .null
            statistics["start_time"] = nil
            info = .object(statistics)
        } else if let reason = members["_replication_state_reason"] {
            info = ["error": reason]
        }
        return json(origin, state, members, id: nil, info, start: start, updated: time)
    }

    private func json(_ origin: ReplicationJob.Origin, _ entry: ReplicatorDocuments.Entry) -> JSONValue {
        if let job = documents.job(of: origin) { return job.documentJSON(at: node) }
        let time = JSONValue.string(entry.updated.iso8601)
        return json(
            origin, entry.problem == nil ? .initializing : .error, entry.order, id: entry.job?.id,
            entry.problem.map { ["error": .string($0)] } ?? .null, start: time, updated: time)
    }

    private func json(
        _ origin: ReplicationJob.Origin, _ state: ReplicationState, _ members: JSONObject, id: String?,
        _ info: JSONValue,
        start: JSONValue, updated: JSONValue
    ) -> JSONValue {
        [
            "database": .string(origin.database), "doc_id": .string(origin.document.string),
            "id": id.map(JSONValue.string) ?? .null, "node": .string(node),
            "source": ReplicationDocument.shownAddress(members["source"]),
            "target": ReplicationDocument.shownAddress(members["target"]), "state": .string(state.rawValue),
            "info": info, "error_count": [.error, .failed].contains(state) ? 1 : 0, "start_time": start,
            "last_updated": updated,
        ]
    }
}
