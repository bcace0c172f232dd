internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleScripting
internal import SettleViews

/// The endpoints of views.
enum ViewEndpoints {
    /// `GET /{db}/_design/{design}/_view/{view}`
    static let read: Endpoint = .read { context in
        var query = ViewQuery(context.request)
        try query.parse(context.query)
        return try shortAnswer(query, context) ?? answer([query], context.worker, isMany: false)
    }

    /// The maximum number of rows in an answer without waiting.
    private static let fewRows = 50

    /// The answer to a query that finds a few rows of an up-to-date index; `nil` for any other query.
    private static func shortAnswer(_ query: ViewQuery, _ context: any ReadContext) throws -> HTTPResponse? {
        let source = try context.source()
        guard query.update != .after, query.isNarrow(fewRows), context.options.scripts != nil,
            let group = ViewGroups.known(context.parameter("design"), of: source)
        else { return nil }
        let view = try group.view(context.parameter("view"))
        try query.check(view)
        guard !query.isReduced(view), query.update == .never || view.part.index.isCurrent(with: source) else {
            return nil
        }
        var answer = ViewAnswer(group, view, query, source, context.metrics)
        guard let text = try answer.next(most: fewRows), answer.isDone, text.contents.isEmpty else { return nil }
        return .json(bytes: text.bytes)
    }

    /// `POST /{db}/_design/{design}/_view/{view}`
    static let readSome: Endpoint = .work { context in
        try context.requireContentType()
        let body = try context.jsonObject()
        if let keys = body["keys"], keys.array == nil {
            throw HTTPError.badRequest("`keys` member must be an array.")
        }
        if body["queries"] != nil {
            throw HTTPError.badRequest("The `queries` parameter is no longer supported at this endpoint")
        }
        var query = ViewQuery(context.request)
        try query.parse(body)
        // The query takes precedence over the body, as in CouchDB.
        try query.parse(context.query)
        return try answer([query], context, isMany: false)
    }

    /// `POST /{db}/_design/{design}/_view/{view}/queries`
    static let queries: Endpoint = .work { context in
        let body = try context.jsonObject()
        guard let queries = body["queries"] else {
            throw HTTPError.badRequest("POST body must include `queries` parameter.")
        }
        guard let list = queries.array else { throw HTTPError.badRequest("`queries` member must be an array.") }
        try RequestLimits.check(queries: list.count)
        let all = try list.map { item in
            var query = ViewQuery(context.request)
            try query.parse(context.query)
            try query.parse(query: item.object ?? JSONObject())
            return query
        }
        return try answer(all, context, isMany: true)
    }

    /// `/{db}/_design/{design}/_view` without the name of a view, or with more segments after it.
    static let noView: Endpoint = .work { context in
        _ = try DesignDocuments.document(context.parameter("design"), of: context.database())
        throw HTTPError.methodNotAllowed("GET,POST,HEAD")
    }

    /// `/{db}/_temp_view`
    static let temporary: Endpoint = .work { context in
        _ = try context.database()
        throw HTTPError(410, "gone", "Temporary views are not supported in CouchDB")
    }

    /// `GET /{db}/_design/{design}/_info`
    static let info: Endpoint = .work { context in
        let database = try context.database()
        let group = try group(context)
        let isRunning = context.indexing.isRunning(context.parameter("db"), context.parameter("design"))
        return .json([
            "name": .string(context.parameter("design")),
            "view_index": try group.info(of: database, isRunning: isRunning),
        ])
    }

    /// `POST /{db}/_view_cleanup`: removes the indexes of views that no design document has.
    static let cleanUp: Endpoint = .work { context in
        let database = try context.database()
        let names = try DesignDocuments.all(in: database).map { design in
            ViewGroup.signature(
                design.members["views"]?.object ?? JSONObject(), design.members["options"]?.object ?? JSONObject())
        }
        let current = try Set(names).union(QueryIndexes.fileNames(of: database))
        IndexFolder.of(database).remove { !current.contains($0) && !$0.hasPrefix("app-") }
        return .ok(status: 202)
    }

    private static func group(_ context: RequestContext) throws -> ViewGroup {
        guard let scripts = context.scripts else {
            throw HTTPError.notImplemented("this server runs no scripts, and so has no views")
        }
        return try ViewGroups.group(context.parameter("design"), of: context.database(), by: scripts)
    }

    private static func answer(_ queries: [ViewQuery], _ context: RequestContext, isMany: Bool) throws -> HTTPResponse {
        let database = try context.database()
        let group = try group(context)
        guard let scripts = context.scripts else { throw HTTPError.missing }
        let view = try group.view(context.parameter("view"))
        let answers = try queries.map { query in
            try query.check(view)
            return ViewAnswer(group, view, query, database, context.metrics)
        }
        if queries.contains(where: { $0.update == .before }) { try update(view, group, context) }
        let stream = try ViewStream(
            answers, of: database, isMany: isMany, threads: scripts.threads, owner: group.design.source.owner)
        if queries.contains(where: { $0.update == .after }) {
            context.indexing.beginLater()
            scripts.threads.submit(for: group.design.source.owner) {
                defer { context.indexing.endLater() }
                try? update(view, group, context)
            }
        }
        return .json(stream: stream)
    }

    private static func update(_ view: ViewGroup.View, _ group: ViewGroup, _ context: RequestContext) throws {
        let database = try context.database()
        guard !view.part.index.isCurrent(with: database) else { return }
        try context.indexing.run(context.parameter("db"), group.design.name) { report in
            try view.part.update(from: database, report: report)
        }
    }
}
