internal import RevisionTree

/// A compaction that runs, as `_active_tasks` shows it.
struct CompactionTask: Sendable {
    let number: Int
    let database: String
    /// When it began, and when it last went on, in seconds since 1970.
    let start: Int
    var update: Int
    var phase = "document_copy"
    var done = 0
    var total = 0

    var json: JSON {
        [
            "node": "nonode@nohost", "pid": .string("<0.\(number).0>"), "changes_done": .number(JSONNumber(done)),
            "database": .string(database), "phase": .string(phase),
            "progress": .number(JSONNumber(total > 0 ? done * 100 / total : 0)),
            "started_on": .number(JSONNumber(start)), "total_changes": .number(JSONNumber(total)),
            "type": "database_compaction", "updated_on": .number(JSONNumber(update)),
        ]
    }
}
