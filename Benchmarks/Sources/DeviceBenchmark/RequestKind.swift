/// The kinds of requests of a device that are measured apart.
enum RequestKind: Int, CaseIterable {
    case checkpointRead
    case checkpointWrite
    case changes
    case longPoll
    case bulkGet
    case revsDiff
    case bulkDocs

    /// The name in reports.
    var name: String {
        switch self {
        case .checkpointRead: "checkpoint read"
        case .checkpointWrite: "checkpoint write"
        case .changes: "changes"
        case .longPoll: "long-poll"
        case .bulkGet: "bulk_get"
        case .revsDiff: "revs_diff"
        case .bulkDocs: "bulk_docs"
        }
    }
}
