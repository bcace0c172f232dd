internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// What `_replicate` answers at the end, in CouchDB's words.
enum ReplicationAnswer {
    /// What became of a replication: its log.
    static func json(_ result: ReplicationResult, _ document: ReplicationDocument) -> JSONValue {
        guard document.usesCheckpoints else { return ["ok": true, "use_checkpoints": false] }
        var members: JSONObject = ["ok": true]
        if !result.hasWritten { members["no_changes"] = true }
        let log = result.log?.object ?? JSONObject()
        // A replication that never had anything to do has no log.
        guard let entries = log["history"]?.array, !entries.isEmpty else { return .object(members) }
        // As in CouchDB, the answer says nothing about documents that don't exist.
        if case .documents = document.filter, entries.allSatisfy({ $0["missing_checked"] == 0 }) {
            return ["ok": true, "no_changes": true]
        }
        for name in ["session_id", "source_last_seq", "replication_id_version"] { members[name] = log[name] }
        let history = entries.map { entry -> JSONValue in
            var entry = entry.object ?? JSONObject()
            // How many checkpoints there were before is nobody else's business.
            entry["number"] = nil
            return .object(entry)
        }
        if case .documents = document.filter {
            for name in ["start_time", "end_time", "docs_read", "docs_written", "doc_write_failures"] {
                members[name] = history.first?[name]
            }
        }
        members["history"] = .array(history)
        return .object(members)
    }

    /// Why a replication failed.
    static func error(_ error: PeerError, _ document: ReplicationDocument) -> HTTPError {
        switch error.code {
        case .notFound where error.message.hasPrefix("could not open"):
            HTTPError(404, "db_not_found", error.message)
        case .notFound where document.filter.isNamed: .notFound("The filter can't be used: \(error.message)")
        case .unauthorized, .forbidden: HTTPError.unauthorized(error.message)
        case .badRequest: .badRequest(error.message)
        case .busy where error.status == 503: HTTPError(503, "service_unavailable", error.message)
        default: HTTPError(500, "replication_failed", error.message)
        }
    }
}

extension ReplicationFilter {
    /// Whether it is a function or a view of a design document.
    fileprivate var isNamed: Bool { if case .named = self { true } else { false } }
}
