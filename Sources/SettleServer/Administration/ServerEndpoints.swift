internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleQuery
internal import SettleReplication

/// The endpoints of the server as a whole.
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
    static let up: Endpoint = .read { context in
        // Only a context on a thread that may block has databases. A server that answers on polling threads has
        // no shared store.
        if let context = context as? RequestContext { try context.databases.checkWrites() }
        return .json(["status": "ok", "seeds": .object(JSONObject())])
    }

    /// The answer to `GET /_up` when the shared store can't be reached, so that a load balancer chooses another
    /// node.
    static func down(_ error: HTTPError) -> HTTPResponse {
        .json(
            ["status": "unavailable", "seeds": .object(JSONObject())], status: 503, headers: error.headers)
    }

    /// `GET /_uuids`
    static let uuids: Endpoint = .work { context in
        let text = context.query["count"] ?? "1"
        guard let count = Int(text), count >= 0 else {
            throw HTTPError.badRequest("count must be a positive integer")
        }
        guard count <= 1000 else { throw HTTPError.badRequest("count parameter too large") }
        let list = (0..<count).map { _ in JSONValue.string(SecureRandom.hexadecimal()) }
        return .json(
            ["uuids": .array(list)],
            headers: [
                "Cache-Control": "no-cache", "Pragma": "no-cache", "Expires": "Mon, 01 Jan 1990 00:00:00 GMT",
                "ETag": EntityTag.of(SecureRandom.hexadecimal()),
            ])
    }

    /// `GET /_all_dbs`
    static let allDatabases: Endpoint = .work { context in .json(.array(try names(context).map(JSONValue.string))) }

    /// `GET /_dbs_info`
    static let databasesInfo: Endpoint = .work { context in try infos(of: names(context), context) }

    /// `POST /_dbs_info`
    static let someDatabasesInfo: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        guard let keys = members["keys"] else { throw HTTPError.badRequest("`keys` member must exist.") }
        guard let list = keys.array else { throw HTTPError.badRequest("`keys` member must be an array.") }
        guard list.count <= 100 else { throw HTTPError.badRequest("too_many_keys") }
        return try infos(of: list.map { $0.string ?? "" }, context, hasConflicts: members["conflicts"] == true)
    }

    /// Information on some databases. The number of conflicted documents is an extension of CouchDB's API.
    private static func infos(
        of names: [String], _ context: RequestContext, hasConflicts: Bool = false
    ) throws -> HTTPResponse {
        try context.databases.freshen(names)
        return .json(
            .array(
                try names.map { name in
                    do {
                        let database = try context.databases.open(name)
                        var info = try DatabaseInfoJSON.json(of: database, name, context.compactions)
                        if hasConflicts {
                            info["conflicts"] = SettlementJSON.counts(
                                branches: try database.conflictCount([.branches]),
                                deletions: try database.conflictCount([.deletion]))
                        }
                        return ["key": .string(name), "info": info]
                    } catch let error as HTTPError where error.status == 404 {
                        return ["key": .string(name), "error": "not_found"]
                    }
                }))
    }

    private static func names(_ context: RequestContext) throws -> [String] {
        var query = ListingQuery()
        try query.parse(context.query)
        return try context.databases.names.read { page(of: $0, query) }
    }

    /// The page of sorted database names that a query asks for.
    private static func page(of names: [String], _ query: ListingQuery) -> [String] {
        let (start, end) = (query.start?.string, query.end?.string)
        let (first, last) = query.isDescending ? (end, start) : (start, end)
        let isFirstIn = !query.isDescending || query.isEndInclusive
        let isLastIn = query.isDescending || query.isEndInclusive
        let low = first.map { key in names.firstIndexInOrder { isFirstIn ? $0 >= key : $0 > key } } ?? 0
        let high = last.map { key in names.firstIndexInOrder { isLastIn ? $0 > key : $0 >= key } } ?? names.count
        let range = names[low..<max(low, high)]
        guard query.isDescending else { return Array(range.dropFirst(query.skip).prefix(query.limit)) }
        let backwards: ReversedCollection = range.reversed()
        return Array(backwards.dropFirst(query.skip).prefix(query.limit))
    }

    /// An endpoint of CouchDB that this version does not offer.
    static func notYet(_ what: String) -> Endpoint {
        .work { context in
            if context.parameters["db"] != nil { _ = try context.database() }
            throw HTTPError.notImplemented("\(what) is not implemented yet")
        }
    }
}

// MARK: - NodeEndpoints

/// The endpoints of the server's only node.
enum NodeEndpoints {
    /// The node's name: that of a CouchDB outside a cluster.
    static let name = "nonode@nohost"

    /// `GET /_membership`
    static let membership: Endpoint = .work { _ in
        .json(["all_nodes": [.string(name)], "cluster_nodes": [.string(name)]])
    }

    /// `GET /_node/{node}`
    static let node: Endpoint = .work { context in
        try ConfigurationEndpoints.checkNode(context)
        return .json(["name": .string(name)])
    }

    /// `GET /_node/{node}/_settings`: the server's stored settings, for a backup: the hashes of the administrators'
    /// passwords, the secret that signs cookies, the server's id, and the settings that were changed over HTTP.
    static let settings: Endpoint = .work(\.administration) { administration, context in
        try ConfigurationEndpoints.checkNode(context)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            body: .bytes(administration.stored))
    }

    /// `GET /_node/{node}/_log`: the newest events, and requests that failed, were cut off or took long, the newest first;
    /// an extension of CouchDB's API. Each node has its own.
    static let log: Endpoint = .work { context in
        try ConfigurationEndpoints.checkNode(context)
        let limit = try context.query.count("limit", 100)
        return .json(["log": .array(context.options.log?.recent.newest(limit) ?? [])])
    }

    /// `GET /_node/{node}/_versions`: the versions of this server's parts; CouchDB's parts, such as Erlang, are
    /// missing.
    static let versions: Endpoint = .work { context in
        try ConfigurationEndpoints.checkNode(context)
        var members: JSONObject = [
            "settle": ["version": .string(ProductVersion.current)],
            "collation_driver": ["name": "libicu", "collator_version": .string(Collation.shortVersion)],
        ]
        if context.scripts != nil { members["javascript_engine"] = ["name": "javascriptcore"] }
        return .json(.object(members))
    }
}

// MARK: - ClusterEndpoints

/// CouchDB's cluster set-up, as far as it makes sense for a single node.
enum ClusterEndpoints {
    /// The databases that every server has after its set-up.
    private static let databases = ["_users", "_replicator"]

    /// `GET /_cluster_setup`
    static let state: Endpoint = .work { context in
        let isSetUp = try databases.allSatisfy(context.databases.contains)
        return .json(["state": isSetUp ? "single_node_enabled" : "single_node_disabled"])
    }

    /// `POST /_cluster_setup`: creates the databases of a single node. Administrators, addresses and ports are set
    /// when the server starts; a request that names another administrator is refused.
    static let setUp: Endpoint = .work(ServerState.create) { create, context in
        let wanted = try context.json()
        guard ["enable_single_node", "finish_cluster"].contains(wanted["action"]?.string ?? "") else {
            throw HTTPError.badRequest("the server is one node; the only action is enable_single_node")
        }
        if let name = wanted["username"]?.string, !context.administrators.contains(name) {
            throw HTTPError.badRequest(
                "administrators are set when the server is started; set it up as one that it has")
        }
        for name in databases {
            do { try create(name) } catch let error as DatabaseError where error.code == .exists {}
        }
        return .json(["ok": true], status: 201)
    }
}
