internal import SettleCore
internal import SettleReplication

/// What an operator wants to know of the server.
enum MonitoringEndpoints {
    /// `GET /_active_tasks`: the compaction that runs, if one does, and the replications that run.
    static let activeTasks: Endpoint = { context in
        .json(
            .array(
                context.server.compactions.tasks.map(\.json) + context.server.indexing.json
                    + context.server.replications.scheduler.runningJobs.map(\.taskJSON)))
    }

    /// `GET /_node/{node}/_prometheus`
    static let prometheus: Endpoint = .work(\.scheduler) { scheduler, context in
        let text = try metrics(scheduler, context).map(\.text).joined()
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "text/plain; version=2.0", "Cache-Control": "no-cache"],
            body: .bytes(Array(text.utf8)))
    }

    /// `GET /_node/{node}/_stats`
    static let statistics: Endpoint = .work(\.scheduler) { scheduler, context in
        var found = JSON.object(try tree(metrics(scheduler, context).flatMap(\.statistics)))
        for name in context.parameter("what").split(separator: "/") {
            guard let inner = found.object?[String(name)] else { throw HTTPError.notFound("missing") }
            found = inner
        }
        return .json(found)
    }

    private static func metrics(_ scheduler: ReplicationScheduler, _ context: RequestContext) throws -> [Metric] {
        try ConfigurationEndpoints.checkNode(context)
        return context.server.metrics.all(openDatabases: context.server.databases.openCount)
            + context.server.replications.metrics
    }

    /// Statistics by the parts of their paths.
    private static func tree(_ rows: [(path: [String], json: JSON)]) -> JSONObject {
        var tree = JSONObject()
        for row in rows {
            guard let name = row.path.first, tree[name] == nil else { continue }
            let inner = rows.filter { $0.path.first == name }.map { (path: Array($0.path.dropFirst()), json: $0.json) }
            tree[name] = inner.first?.path.isEmpty == true ? row.json : .object(Self.tree(inner))
        }
        return tree
    }
}
