internal import SettleCore
internal import SettleDatabase

/// The query of a `_changes` request, and the body if the filter needs one.
struct ChangesParameters {
    private(set) var query: HTTPQuery
    private(set) var body: [UInt8]?
    /// Computing a sequence is expensive on a cluster, so only every hundredth row has one.
    private static let sequenceInterval = 100

    /// Builds the query.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - heartbeat: How often the server sends a heartbeat while it waits indefinitely; `nil` to wait as long as the
    ///     request says.
    init(_ request: ChangesRequest, heartbeat: Duration?) {
        query = ["style": "all_docs", "since": request.since.description, "limit": "\(max(1, request.limit))"]
        if request.limit > Self.sequenceInterval { query["seq_interval"] = "\(Self.sequenceInterval)" }
        if let heartbeat {
            query["feed"] = "longpoll"
            query["heartbeat"] = "\(heartbeat.milliseconds)"
        } else if let wait = request.wait {
            query["feed"] = "longpoll"
            query["timeout"] = "\(wait.milliseconds)"
        } else {
            query["feed"] = "normal"
        }
        take(request.filter)
        // A filter may skip many rows before the first one that passes.
        if heartbeat == nil, request.wait == nil, query["filter"] != nil {
            query["heartbeat"] = "\(request.heartbeat.milliseconds)"
        }
    }

    private mutating func take(_ filter: ReplicationFilter) {
        switch filter {
        case .all: break
        case .documents(let ids):
            query["filter"] = "_doc_ids"
            body = JSONValue.object(["doc_ids": .array(ids.map { .string($0.string) })]).utf8
        case .selector(let selector):
            query["filter"] = "_selector"
            body = JSONValue.object(["selector": selector.json]).utf8
        case .named(let name, let parameters):
            query["filter"] = name
            // As in CouchDB, a filter parameter can't override a parameter that the replication sets.
            for (name, value) in parameters.sorted(by: { $0.key < $1.key }) where query[name] == nil {
                query[name] = value.string ?? value.description
            }
        case .channels(let channels):
            query["filter"] = "sync_gateway/bychannel"
            query["channels"] = channels.joined(separator: ",")
        }
    }
}
