internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleReplication

/// The endpoints under `_scheduler`: the state of the replicator.
enum SchedulerEndpoints {
    /// The states that CouchDB knows.
    private static let states = ReplicationState.allCases.filter { $0 != .paused }.map(\.rawValue)

    /// `GET /_scheduler/jobs`
    static let jobs: Endpoint = .work(\.replications) { replications, context in
        let (limit, skip) = (try context.query.count("limit", 100), try context.query.count("skip", 0))
        let (page, total) = replications.jobs(skip: skip, limit: limit)
        return .json([
            "total_rows": .number(JSONNumber(total)), "offset": .number(JSONNumber(min(skip, total))),
            "jobs": .array(page.map { $0.json(at: replications.node) }),
        ])
    }

    /// `GET /_scheduler/jobs/{id}`
    static let job: Endpoint = .work(\.replications) { replications, context in
        // A plus in the path was decoded as a blank.
        let id = context.parameter("id").replacing(" ", with: "+")
        guard let job = replications.job(id) else { throw HTTPError.missing }
        return .json(job.json(at: replications.node))
    }

    /// `GET /_scheduler/ledger/{id}`: the documents that a job could not replicate, with reasons, newest first; an
    /// extension of CouchDB's API. The id `{db}/_blipsync` lists the documents that are not offered to Couchbase
    /// Lite.
    static let ledger: Endpoint = .work(\.replications) { replications, context in
        let id = context.parameter("id").replacing(" ", with: "+")
        let (limit, skip) = (try context.query.count("limit", 100), try context.query.count("skip", 0))
        guard let ledger = try replications.ledger(of: id) ?? mobileLedger(id, context) else {
            guard replications.job(id) != nil else { throw HTTPError.missing }
            throw HTTPError.notFound("Another node runs this replication; ask that one.")
        }
        let rows = ledger.entries.reversed().dropFirst(skip).prefix(limit).map { entry -> JSONValue in
            var row: JSONValue = [
                "id": .string(entry.documentID.string), "kind": .string(entry.kind.rawValue),
                "reason": .string(entry.reason), "attempts": .number(JSONNumber(entry.attempts)),
            ]
            row["rev"] = entry.revision.map { .string($0.description) }
            row["status"] = entry.status.map { .number(JSONNumber($0)) }
            return row
        }
        return .json([
            "total_rows": .number(JSONNumber(ledger.count)), "forgotten": .number(JSONNumber(ledger.forgotten)),
            "rows": .array(rows),
        ])
    }

    /// The documents that are not offered to Couchbase Lite, if the id names a database's ledger; `nil` for another
    /// id.
    private static func mobileLedger(_ id: String, _ context: RequestContext) throws -> ReplicationLedger? {
        let suffix = "/_blipsync"
        guard id.hasSuffix(suffix) else { return nil }
        let name = String(id.dropLast(suffix.count))
        // A missing database has no ledger.
        return try context.service(\.mobile).leftOut.ledger(of: name, in: context.databases.open(name))
    }

    /// `GET /_scheduler/docs/…`: the path may name a database, with escaped or plain slashes, and a document.
    static let documents: Endpoint = .work(\.replications) { replications, context in
        replications.documents.catchUp()
        let parts = context.parameter("what").split(separator: "/", omittingEmptySubsequences: false)
        guard parts != [""] else { return try list("_replicator", replications, context) }
        guard let end = parts.firstIndex(of: "_replicator") else { throw HTTPError.badRequest("Invalid path") }
        let name = parts[...end].joined(separator: "/")
        // The id of a document may have slashes.
        let id = DocumentID(unchecked: parts[(end + 1)...].joined(separator: "/"))
        guard !id.string.isEmpty else { return try list(name, replications, context) }
        let database = try context.databases.open(name)
        guard let record = try database.record(of: id), record.tree.winner?.isDeleted == false,
            let members = record.content?.body.json.object,
            let json = replications.json(.init(database: name, document: id), members)
        else { throw HTTPError.missing }
        return .json(json)
    }

    /// Reads documents page by page, and keeps those that are shown.
    private static func list(
        _ name: String, _ replications: ReplicationService, _ context: RequestContext
    ) throws -> HTTPResponse {
        let (limit, skip) = (try context.query.count("limit", 100), try context.query.count("skip", 0))
        let wanted = try wantedStates(context)
        let database = try context.databases.open(name)
        var (shown, passed, range) = ([JSONValue](), 0, DocumentRange())
        while shown.count < limit {
            let page = try database.records(in: range, limit: 200, withContent: true)
            guard let last = page.last else { break }
            range.after = last.id
            for record in page where record.tree.winner?.isDeleted == false && !record.id.isDesign {
                guard shown.count < limit, let members = record.content?.body.json.object,
                    let json = replications.json(
                        .init(database: name, document: record.id), members),
                    wanted.isEmpty || wanted.contains(json["state"]?.string ?? "")
                else { continue }
                passed += 1
                if passed > skip { shown.append(json) }
            }
        }
        return .json([
            "total_rows": .number(JSONNumber(try database.counts().live)),
            "offset": .number(JSONNumber(min(skip, passed))), "docs": .array(shown),
        ])
    }

    private static func wantedStates(_ context: RequestContext) throws -> Set<String> {
        let wanted = Set((context.query["states"] ?? "").lowercased().split(separator: ",").map(String.init))
        let unknown = wanted.subtracting(states).sorted()
        guard unknown.isEmpty else {
            throw HTTPError.queryParse(
                "Unknown states \(unknown.joined(separator: ",")). Choose from: \(states.joined(separator: ","))")
        }
        return wanted
    }
}
