internal import SettleCore
internal import SettlePlatform
internal import SettleReplication

/// How a job is shown, never with a password.
extension ReplicationJob {
    /// As `_scheduler/jobs` shows it.
    var json: JSON {
        [
            "database": origin.map { .string($0.database) } ?? .null, "id": .string(id), "pid": pid,
            "source": .string(document.source.shown), "target": .string(document.target.shown),
            "user": user.map(JSON.string) ?? .null, "doc_id": origin.map { .string($0.document.string) } ?? .null,
            "info": info,
            "history": .array(
                history.map { event in
                    var members: JSONObject = [
                        "timestamp": .string(event.time.iso8601), "type": .string(event.kind),
                    ]
                    members["reason"] = event.reason.map(JSON.string)
                    return .object(members)
                }), "node": "nonode@nohost", "start_time": .string(start.iso8601),
        ]
    }

    /// As `_scheduler/docs` shows the document it comes from.
    var documentJSON: JSON {
        [
            "database": origin.map { .string($0.database) } ?? .null,
            "doc_id": origin.map { .string($0.document.string) } ?? .null, "id": .string(id), "node": "nonode@nohost",
            "source": .string(document.source.shown), "target": .string(document.target.shown),
            "source_proxy": .null, "target_proxy": .null, "state": .string(state), "info": info,
            "error_count": .number(JSONNumber(failures)), "last_updated": .string(updated.iso8601),
            "start_time": .string(start.iso8601),
        ]
    }

    /// As `_active_tasks` shows it while it runs.
    var taskJSON: JSON {
        var members: JSONObject = [
            "node": "nonode@nohost", "pid": pid, "type": "replication", "user": user.map(JSON.string) ?? .null,
            "replication_id": .string(id), "database": origin.map { .string($0.database) } ?? .null,
            "doc_id": origin.map { .string($0.document.string) } ?? .null,
            "source": .string(document.source.shown), "target": .string(document.target.shown),
            "continuous": .bool(document.isContinuous), "checkpoint_interval": .number(JSONNumber(interval)),
            "started_on": .number(JSONNumber(start.seconds)), "updated_on": .number(JSONNumber(WallTime.now().seconds)),
        ]
        for (name, value) in Self.statistics(seen) { members[name] = value }
        return .object(members)
    }

    /// What it has done, as CouchDB counts it.
    static func statistics(_ seen: ReplicationStatus.Seen) -> [(String, JSON)] {
        let counts = seen.counts
        let numbers = [
            ("revisions_checked", counts.revisionsChecked), ("missing_revisions_found", counts.revisionsMissing),
            ("docs_read", counts.revisionsRead), ("docs_written", counts.revisionsWritten),
            ("doc_write_failures", counts.revisionsRefused + counts.revisionsFailed),
        ]
        return numbers.map { ($0, .number(JSONNumber($1))) } + [
            ("changes_pending", seen.pending.map { .number(JSONNumber($0)) } ?? .null),
            ("source_seq", seen.position.json), ("through_seq", seen.position.json),
            ("checkpointed_source_seq", seen.checkpointed.json),
        ]
    }

    private var interval: Int {
        let (seconds, attoseconds) = (document.checkpointInterval ?? .seconds(5)).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    private var pid: JSON { if case .running = phase { .string("<0.\(run).0>") } else { .null } }

    private var info: JSON {
        let seen = seen
        if let problem = seen.problem ?? problem { return ["error": .string(problem)] }
        return run == 0 ? .null : .object(JSONObject(Self.statistics(seen)))
    }
}
