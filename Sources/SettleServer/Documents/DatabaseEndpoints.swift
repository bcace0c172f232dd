internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleViews

/// The endpoints of a database as a whole.
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
    private static func checkOptions(_ query: HTTPQuery) throws {
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
        .json(try DatabaseInfoJSON.json(of: context.database(), context.parameter("db"), context.compactions))
    }

    /// `GET /{db}/_info`: what CouchDB has no members for, as `settle info` and `settle compact` show it. An extension of ours.
    static let details: Endpoint = .work { context in
        let database = try context.database()
        return .json(
            try DatabaseInfo.details(of: database, context.compactions.last(of: database, context.parameter("db"))))
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
        try context.compactions.start(database, context.parameter("db"))
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

// MARK: - DatabaseInfoJSON

/// The response of `GET /{db}`: counts, sizes and positions of a database.
enum DatabaseInfoJSON {
    static func json(of database: Database, _ name: String, _ compactions: Compactions) throws -> JSONValue {
        let counts = try CountedDocuments.counts(of: database)
        let sizes = try database.sizes()
        let sequences = try WireSequence(database)
        var info: JSONValue = [
            "instance_start_time": "0", "db_name": .string(name),
            "purge_seq": try sequences.json(UpdateSequence(PurgeLog.requestCount(in: database))),
            "update_seq": try sequences.json(database.lastSequence()),
            "sizes": [
                "file": .number(JSONNumber(sizes.file)), "external": .number(JSONNumber(sizes.external)),
                "active": .number(JSONNumber(sizes.active)),
            ], "props": .object(JSONObject()),
            "doc_del_count": .number(JSONNumber(counts.deleted)), "doc_count": .number(JSONNumber(counts.live)),
            "disk_format_version": 8, "compact_running": .bool(try compactions.isRunning(database, name)),
            "cluster": ["q": 1, "n": 1, "w": 1, "r": 1],
        ]
        let kept = try database.attributesKeptOnDelete()
        if !kept.isEmpty { info["attributes_kept_on_delete"] = .array(kept.sorted().map { .string($0) }) }
        return info
    }
}

/// The numbers of documents of an open database, which are read once after each commit: they are part of the argument
/// of every update function.
private final class CountedDocuments: Sendable {
    private let known = Guarded<(commit: Commit, counts: DocumentCounts)?>(nil)

    static func counts(of database: Database) throws -> DocumentCounts {
        // Read before the counts, so a commit in between makes them old.
        guard let commit = database.newestCommit else { return try database.counts() }
        let own = database.companion(CountedDocuments.self) { CountedDocuments() }
        if let known = own.known.withLock({ $0 }), known.commit == commit { return known.counts }
        let counts = try database.counts()
        own.known.withLock { $0 = (commit, counts) }
        return counts
    }
}

extension DatabaseInfo {
    /// The response of `GET /{db}/_info`: counts of conflicts and attachments, sizes on disk, and the last compaction.
    static func details(of database: Database, _ compaction: Compactions.Ended?) throws -> JSONValue {
        let info = try database.info()
        var details: JSONValue = [
            "conflicts": SettlementJSON.counts(branches: info.conflicts, deletions: info.contested),
            "attachments": .number(JSONNumber(info.blobs)),
            "sizes": [
                "file": .number(JSONNumber(info.fileSize)),
                "attachments": .number(JSONNumber(info.attachmentFilesSize)),
            ],
        ]
        details["compaction"] = compaction?.json
        return details
    }
}

// MARK: - PurgeEndpoints

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
