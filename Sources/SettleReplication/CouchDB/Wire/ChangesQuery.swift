internal import RevisionTree
internal import SettleDatabase

/// What is asked of `_changes`, and the body where the filter is told in one.
struct ChangesQuery {
    private(set) var query: HTTPQuery
    private(set) var body: [UInt8]?
    /// On a cluster a sequence costs; this often one is enough, and between them the one before stands.
    private static let sequenceInterval = 100

    /// Makes the question.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - heartbeat: How often the server is to give a sign of life while it waits, without end; `nil` for it to wait as
    ///     long as the request says.
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
        // A filter may pass over much before the first row.
        if heartbeat == nil, request.wait == nil, query["filter"] != nil {
            query["heartbeat"] = "\(request.heartbeat.milliseconds)"
        }
    }

    private mutating func take(_ filter: ReplicationFilter) {
        switch filter {
        case .all: break
        case .documents(let ids):
            query["filter"] = "_doc_ids"
            body = JSON.object(["doc_ids": .array(ids.map { .string($0.string) })]).utf8
        case .selector(let selector):
            query["filter"] = "_selector"
            body = JSON.object(["selector": selector.json]).utf8
        case .named(let name, let parameters):
            query["filter"] = name
            // What the replication itself asks is not to be changed by a parameter of the same name, as in CouchDB.
            for (name, value) in parameters.sorted(by: { $0.key < $1.key }) where query[name] == nil {
                query[name] = value.string ?? value.description
            }
        case .channels(let channels):
            query["filter"] = "sync_gateway/bychannel"
            query["channels"] = channels.joined(separator: ",")
        }
    }
}
