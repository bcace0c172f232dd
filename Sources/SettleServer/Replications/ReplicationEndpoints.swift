internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// The endpoints with which a replicator compares revisions.
enum ReplicationEndpoints {
    /// `POST /{db}/_revs_diff`
    static let revisionsDiff: Endpoint = .work { context in
        .json(
            .object(
                JSONObject(
                    try differences(context).map { row in
                        var members: [(String, JSONValue)] = [("missing", .array(row.missing.map(JSONValue.string)))]
                        if !row.ancestors.isEmpty {
                            members.append(
                                ("possible_ancestors", .array(row.ancestors.map { .string($0.description) })))
                        }
                        return (row.id, .object(JSONObject(members)))
                    })))
    }

    /// `POST /{db}/_missing_revs`
    static let missingRevisions: Endpoint = .work { context in
        let rows = try differences(context).map { ($0.id, JSONValue.array($0.missing.map(JSONValue.string))) }
        return .json(["missing_revs": .object(JSONObject(rows))])
    }

    private typealias Row = (id: String, missing: [String], ancestors: [RevisionID])

    private static func differences(_ context: RequestContext) throws -> [Row] {
        try context.requireContentType()
        let database = try context.database()
        let asked = try context.jsonObject().map { ($0.name, try DocumentOptions.revisions($0.value)) }
        let known = try database.revisionsDiff(
            asked.map { (DocumentID(unchecked: $0.0), $0.1.compactMap(\.id)) })
        let byID = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
        return asked.compactMap { name, revisions in
            let difference = byID[DocumentID(unchecked: name)]
            let missing = Set(difference?.missing ?? [])
            let names = revisions.filter { $0.id.map(missing.contains) ?? true }.map(\.description)
            return names.isEmpty ? nil : (name, names, difference?.possibleAncestors ?? [])
        }
    }
}

// MARK: - ReplicateEndpoint

/// Replications that a request starts or stops.
enum ReplicateEndpoint {
    /// `POST /_replicate`
    static let replicate: Endpoint = .work(\.replications) { replications, context in
        try context.requireContentType()
        var members = try context.jsonObject()
        for parameter in members["query_params"]?.object ?? JSONObject() where parameter.value.string == nil {
            throw HTTPError.badRequest("\(parameter.name) value must be a string.")
        }
        let isCancelled: Bool
        switch members["cancel"] {
        case nil: isCancelled = false
        case .bool(let flag)?: isCancelled = flag
        default: throw HTTPError.badRequest("parameter `cancel` must be a boolean")
        }
        let name = ["_local_id", "replication_id", "id"].compactMap { members[$0]?.string }.first
        if isCancelled, let name { return replications.cancel(name) }
        for side in ["source", "target"] { members[side] = members[side].map { here($0, context) } }
        let document = try document(members)
        let answer =
            isCancelled
            ? try replications.cancel(document, for: context.user)
            : try replications.replicate(document, for: context.user)
        return HTTPResponse(status: 200, body: .later(answer))
    }

    /// Turns the name of a database of this server into a URL with the user's credentials. So the replication has
    /// exactly the user's rights.
    private static func here(_ side: JSONValue, _ context: RequestContext) -> JSONValue {
        guard let name = side.string, DocumentStore.isName(name), let host = context.request.headers["Host"] else {
            return side
        }
        let scheme = context.options.certificate == nil ? "http" : "https"
        let headers = ["Authorization", "Cookie"].compactMap { name in
            context.request.headers[name].map { (name, JSONValue.string($0)) }
        }
        return [
            "url": .string("\(scheme)://\(host)/\(PercentCoding.encode(name, keeping: .couchDB))"),
            "headers": .object(JSONObject(headers)),
        ]
    }

    private static func document(_ members: JSONObject) throws -> ReplicationDocument {
        do { return try ReplicationDocument(members) } catch { throw HTTPError.badRequest(error.message) }
    }
}
