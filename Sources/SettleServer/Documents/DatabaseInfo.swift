internal import SettleCore
internal import SettleDatabase
internal import SettleViews

/// The response of `GET /{db}`: counts, sizes and positions of a database.
enum DatabaseInfo {
    static func json(of database: Database, _ name: String, _ compactions: Compactions) throws -> JSONValue {
        let counts = try database.counts()
        let sizes = try database.sizes()
        let sequences = try WireSequence(database)
        var info: JSONValue = [
            "instance_start_time": "0", "db_name": .string(name),
            "purge_seq": try sequences.json(UpdateSequence(PurgeLog.requestCount(in: database))),
            "update_seq": try sequences.json(database.lastSequence()),
            "sizes": [
                "file": .number(JSONNumber(sizes.file)), "external": .number(JSONNumber(sizes.external)),
                "active": .number(JSONNumber(sizes.active)),
            ], "props": .object(JSONObject()),
            "doc_del_count": .number(JSONNumber(counts.deleted)), "doc_count": .number(JSONNumber(counts.live)),
            "disk_format_version": 8, "compact_running": .bool(compactions.isRunning(name)),
            "cluster": ["q": 1, "n": 1, "w": 1, "r": 1],
        ]
        let kept = try database.fieldsKeptOnDelete()
        if !kept.isEmpty { info["fields_kept_on_delete"] = .array(kept.sorted().map { .string($0) }) }
        return info
    }
}
