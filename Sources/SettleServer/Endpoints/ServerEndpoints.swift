internal import SettleCore
internal import SettlePlatform

/// What the server as a whole answers.
enum ServerEndpoints {
    /// `GET /`
    static let welcome: Endpoint = .read { context in
        let options = context.options
        return .json([
            "couchdb": "Welcome", "version": .string(options.compatibleVersion), "git_sha": "settle",
            "uuid": .string(context.uuid), "features": ["scheduler"],
            "vendor": ["name": .string(options.productName)],
        ])
    }

    /// `GET /_up`
    static let up: Endpoint = .read { _ in .json(["status": "ok", "seeds": .object(JSONObject())]) }

    /// `GET /_uuids`
    static let uuids: Endpoint = .work { context in
        let text = context.query["count"] ?? "1"
        guard let count = Int(text), count >= 0 else {
            throw HTTPError.badRequest("count must be a positive integer")
        }
        guard count <= 1000 else { throw HTTPError.badRequest("count parameter too large") }
        let list = (0..<count).map { _ in JSON.string(SecureRandom.hexadecimal()) }
        return .json(
            ["uuids": .array(list)],
            headers: [
                "Cache-Control": "no-cache", "Pragma": "no-cache", "Expires": "Mon, 01 Jan 1990 00:00:00 GMT",
                "ETag": EntityTag.of(SecureRandom.hexadecimal()),
            ])
    }

    /// `GET /_all_dbs`
    static let allDatabases: Endpoint = .work { context in .json(.array(try names(context).map(JSON.string))) }

    /// `GET /_dbs_info`
    static let databasesInfo: Endpoint = .work { context in try infos(of: names(context), context) }

    /// `POST /_dbs_info`
    static let someDatabasesInfo: Endpoint = .work { context in
        try context.requireContentType()
        guard let keys = try context.jsonObject()["keys"] else {
            throw HTTPError.badRequest("`keys` member must exist.")
        }
        guard let list = keys.array else { throw HTTPError.badRequest("`keys` member must be an array.") }
        guard list.count <= 100 else { throw HTTPError.badRequest("too_many_keys") }
        return try infos(of: list.map { $0.string ?? "" }, context)
    }

    private static func infos(of names: [String], _ context: RequestContext) throws -> HTTPResponse {
        .json(
            .array(
                try names.map { name in
                    do {
                        let database = try context.databases.open(name)
                        return [
                            "key": .string(name),
                            "info": try DatabaseInfo.json(of: database, name, context.compactions),
                        ]
                    } catch let error as HTTPError where error.status == 404 {
                        return ["key": .string(name), "error": "not_found"]
                    }
                }))
    }

    private static func names(_ context: RequestContext) throws -> [String] {
        var query = ListingQuery()
        try query.take(context.query)
        let isDescending = query.isDescending
        var names = try context.databases.names()
        if isDescending { names.reverse() }
        if let start = query.start?.string { names = names.filter { isDescending ? $0 <= start : $0 >= start } }
        if let end = query.end?.string {
            let isInclusive = query.isEndInclusive
            names = names.filter { (isDescending ? $0 > end : $0 < end) || (isInclusive && $0 == end) }
        }
        return Array(names.dropFirst(query.skip).prefix(query.limit))
    }

    /// What CouchDB has and this version has not.
    static func notYet(_ what: String) -> Endpoint {
        .work { context in
            if context.parameters["db"] != nil { _ = try context.database() }
            throw HTTPError.notImplemented("\(what) is not implemented yet")
        }
    }
}
