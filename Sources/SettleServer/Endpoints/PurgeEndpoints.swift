internal import SettleCore
internal import SettleDatabase

/// Forgetting revisions for good.
enum PurgeEndpoints {
    /// `POST /{db}/_purge`
    static let purge: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        let wanted = try context.jsonObject().map { ($0.name, try DocumentOptions.revisions($0.value)) }
        guard wanted.count <= 100 else { throw HTTPError.badRequest("Exceeded maximum number of documents.") }
        guard wanted.reduce(0, { $0 + $1.1.count }) <= 1000 else {
            throw HTTPError.badRequest("Exceeded maximum number of revisions.")
        }
        var purged: [(String, JSONValue)] = []
        try database.transaction {
            for (name, revisions) in wanted {
                let gone = try database.purge(
                    DocumentID(unchecked: name), revisions: revisions.compactMap(\.id))
                purged.append((name, .array(gone.map { .string($0.description) })))
            }
        }
        return .json(["purge_seq": nil, "purged": .object(JSONObject(purged))], status: 201)
    }

    /// `GET /{db}/_purged_infos`: what was purged is not remembered, for nothing here has to catch up with it.
    static let infos: Endpoint = .work { context in
        _ = try context.database()
        return .json(["purged_infos": []])
    }

    /// `GET /{db}/_purged_infos_limit`
    static let limit: Endpoint = .work { context in
        let text = try context.database().setting(setting)
        return .json(.number(JSONNumber(text.flatMap { Int($0) } ?? 1000)))
    }

    /// `PUT /{db}/_purged_infos_limit`
    static let setLimit: Endpoint = .work { context in
        let database = try context.database()
        guard let limit = try context.json().int, limit > 0 else {
            throw HTTPError.badRequest("`purged_infos_limit` must be positive integer")
        }
        try database.setSetting(setting, to: String(limit))
        return .ok()
    }

    private static let setting = "purged_infos_limit"
}
