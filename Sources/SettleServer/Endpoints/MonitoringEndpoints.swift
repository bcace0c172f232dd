internal import SettleCore
internal import SettleReplication

/// What an operator wants to know of the server.
enum MonitoringEndpoints {
    /// `GET /_active_tasks`: the compaction that runs, if one does, and the replications that run.
    static let activeTasks: Endpoint = .work(\.replications) { replications, context in
        .json(
            .array(
                context.compactions.tasks.map(\.json) + context.indexing.json
                    + replications.runningJobs.map { $0.taskJSON(at: replications.node) }))
    }

    /// `GET /_node/{node}/_prometheus`
    static let prometheus: Endpoint = .work(\.replications) { replications, context in
        let times = context.metrics.times
        let text = try metrics(replications, context).map(\.text).joined() + times.lately.text(times.total)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "text/plain; version=2.0", "Cache-Control": "no-cache"],
            body: .bytes(Array(text.utf8)))
    }

    /// `GET /_node/{node}/_stats`
    static let statistics: Endpoint = .work(\.replications) { replications, context in
        var found = JSONValue.object(
            tree(try metrics(replications, context).flatMap(\.statistics) + [context.metrics.times.lately.statistics]))
        for name in context.parameter("what").split(separator: "/") {
            guard let inner = found.object?[String(name)] else { throw HTTPError.notFound("missing") }
            found = inner
        }
        return .json(found)
    }

    private static func metrics(_ replications: ReplicationService, _ context: RequestContext) throws -> [Metric] {
        try ConfigurationEndpoints.checkNode(context)
        return context.metrics.all(openDatabases: context.databases.openCount) + context.databases.numbers
            + replications.metrics + context.scrubMetrics
    }

    /// Statistics by the parts of their paths.
    private static func tree(_ rows: [(path: [String], json: JSONValue)]) -> JSONObject {
        var tree = JSONObject()
        for row in rows {
            guard let name = row.path.first, tree[name] == nil else { continue }
            let inner = rows.filter { $0.path.first == name }.map { (path: Array($0.path.dropFirst()), json: $0.json) }
            tree[name] = inner.first?.path.isEmpty == true ? row.json : .object(Self.tree(inner))
        }
        return tree
    }
}
