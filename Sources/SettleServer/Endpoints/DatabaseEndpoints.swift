internal import SettleCore
internal import SettleDatabase

/// What a database as a whole answers.
enum DatabaseEndpoints {
    /// `PUT /{db}`
    static let create: Endpoint = .work(ServerState.create) { create, context in
        let name = context.parameter("db")
        let longest = name.utf8.split(separator: UInt8(ascii: "/")).map(\.count).max() ?? 0
        guard DocumentStore.isName(name) || longest > 238 else {
            throw HTTPError(
                400, "illegal_database_name",
                """
                Name: '\(name)'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), \
                +, -, and / are allowed. Must begin with a letter.
                """)
        }
        guard DocumentStore.isName(name) else {
            throw HTTPError(
                400, "database_name_too_long", "At least one path segment of `\(name)` is too long.")
        }
        try checkOptions(context.query)
        try create(name)
        return .json(["ok": true], status: 201, headers: ["Location": context.location(name)])
    }

    /// Options of clusters are checked, and mean nothing to a database on one machine.
    private static func checkOptions(_ query: QueryParameters) throws {
        for name in ["n", "q"] {
            guard let text = query[name] else { continue }
            guard let number = Int(text), number > 0 else {
                throw HTTPError.badRequest("The `\(name)` value should be a positive integer.")
            }
        }
        guard [nil, "false", "true"].contains(query["partitioned"]) else {
            throw HTTPError.badRequest("Invalid `partitioned` parameter")
        }
    }

    /// `DELETE /{db}`
    static let delete: Endpoint = .work(\.updates) { updates, context in
        if context.query["rev"] != nil {
            throw HTTPError.badRequest(
                """
                You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document instead?
                """)
        }
        let name = context.parameter("db")
        try context.databases.delete(name)
        updates.deleted(name)
        return .ok()
    }

    /// `GET /{db}`
    static let info: Endpoint = .work { context in
        .json(try DatabaseInfo.json(of: context.database(), context.parameter("db"), context.compactions))
    }

    /// `POST /{db}/_ensure_full_commit`: what was acknowledged is committed as durably as the store was opened for.
    static let ensureFullCommit: Endpoint = .work { context in
        try context.requireContentType()
        _ = try context.database()
        return .json(["ok": true, "instance_start_time": "0"], status: 201)
    }

    /// `POST /{db}/_compact`: the answer comes at once, as in CouchDB, and the work is done after it.
    static let compact: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        context.compactions.start(database, context.parameter("db"))
        return .ok(status: 202)
    }

    /// `POST /{db}/_compact/{ddoc}`: indexes give the space of old rows to new ones, so there is nothing to do.
    static let compactViews: Endpoint = .work { context in
        try context.requireContentType()
        _ = try DocumentLookup(source: context.database()).winner(
            DocumentID(unchecked: "_design/" + context.parameter("ddoc")))
        return .ok(status: 202)
    }

    /// `GET /{db}/_revs_limit`
    static let revisionLimit: Endpoint = .work { context in
        .json(.number(JSONNumber(try context.database().revisionLimit())))
    }

    /// `PUT /{db}/_revs_limit`
    static let setRevisionLimit: Endpoint = .work { context in
        let database = try context.database()
        guard let limit = try context.json().int, limit > 0 else {
            throw HTTPError.badRequest("`_revs_limit` must be a positive integer")
        }
        try database.setRevisionLimit(limit)
        return .ok()
    }

    /// `/{db}/_partition/{partition}` and what is below it: no database here has partitions.
    static let noPartitions: Endpoint = .work { context in
        _ = try context.database()
        throw HTTPError.badRequest("database is not partitioned")
    }
}
