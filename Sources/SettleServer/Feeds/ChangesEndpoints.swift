internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP

/// Feeds of changes.
enum ChangesEndpoints {
    /// `GET` and `POST /{db}/_changes`
    static let changes: Endpoint = .work { context in
        let database = try context.database()
        var body = JSONObject()
        var bytes: [UInt8] = []
        if context.request.method == "POST" {
            try context.requireContentType()
            bytes = try context.body()
            if !bytes.isEmpty {
                guard let object = try RequestLimits.value(bytes).object else {
                    throw HTTPError.badRequest("Request body must be a JSON object")
                }
                body = object
            }
        }
        let query = try ChangesQuery(context)
        let filter = try ChangesFilter(query.filter, context, body: body, bytes: bytes)
        return try feed(of: database, query, filter, context, body, .member)
    }

    /// `GET /_db_updates`
    static let updates: Endpoint = .work(\.updates) { updates, context in
        let query = try ChangesQuery(context).ofDatabases
        return try feed(of: updates.log(), query, .all, context, JSONObject(), .serverAdmin)
    }

    private static func feed(
        of database: Database, _ query: ChangesQuery, _ filter: ChangesFilter, _ context: RequestContext,
        _ body: JSONObject, _ access: Route.Access
    ) throws -> HTTPResponse {
        let tag = try query.feed == .normal ? tag(of: database, context, body) : nil
        if let tag, let unchanged = EntityTag.notModified(tag, context.request) { return unchanged }
        let stream = try ChangesStream(
            database: database, query: query, filter: filter, metrics: context.metrics)
        if filter.script != nil { try stream.prepare() }
        if query.feed != .normal {
            stream.watch(by: context.service(\.watch), AccessWatch.Grant(context, access))
        }
        var response = HTTPResponse.json(stream: stream)
        if let tag { response.headers["ETag"] = tag }
        // Otherwise nginx would wait until its buffer is full.
        if query.feed != .normal { response.headers["X-Accel-Buffering"] = "no" }
        if query.feed == .eventsource {
            response.headers["Content-Type"] = "text/event-stream"
            response.headers["Cache-Control"] = "no-cache"
        }
        return response
    }

    private static func tag(of database: Database, _ context: RequestContext, _ body: JSONObject) throws -> String {
        let position = try WireSequence(database).text(database.lastSequence())
        return EntityTag.of("\(position)-\(QueryChecksum.of(context.request.target.query.items, body))")
    }
}

/// A short number that distinguishes requests; it protects nothing.
private enum QueryChecksum {
    /// Computes the number from a query and a body.
    static func of(_ query: [(name: String, value: String)], _ body: JSONObject) -> String {
        // FNV-1a has the same result in every process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let text = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&") + JSONValue.object(body).description
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}
