internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// Settling conflicts at the server, by the revisions that any other copy would write: an extension of ours.
enum SettleEndpoints {
    private static let mostDocuments = 1000
    /// How long one call goes on.
    private static let patience: Duration = .seconds(2)

    /// `POST /{db}/_settle/{docid}`
    static let one: Endpoint = .work { context in
        try context.requireContentType()
        let (database, id) = (try context.database(), DocumentID(unchecked: context.parameter("id")))
        try checkRights(context, id)
        let leaves = try database.conflict(of: id)?.leaves ?? []
        let request = try SettleRequest(try context.jsonObject(), about: id, leaves: leaves)
        // Documents of the system are prepared when they are written, such as passwords hashed; here they are taken from leaves only.
        guard !isOfSystem(context) || request.name != "doc" && request.picked.isEmpty else {
            throw HTTPError.forbidden(
                "In this database a conflict is settled by what its leaves have: use `policy`, `keep` or `delete`.")
        }
        guard try database.record(of: id) != nil else { throw HTTPError.missing }
        var planned = PlannedSettlement(context: context, database: database, id: id, policy: request.policy)
        planned.seen = request.leaves
        do {
            guard request.isDryRun else {
                let settlement = try planned.settle()
                let isWritten = !settlement.written.isEmpty
                return .json(SettlementJSON.settlement(settlement), status: isWritten ? 201 : 200)
            }
            guard let (preview, refusals) = try planned.rehearse() else {
                var answer = SettlementJSON.nothing(id)
                answer["dry_run"] = true
                return .json(answer)
            }
            let answer = RehearsalAnswer(
                request: request, database: database, preview: preview, refusals: refusals)
            return .json(try answer.json())
        } catch let changed as PlannedSettlement.Changed {
            return .json(
                [
                    "error": "conflict", "reason": "The leaves have changed.",
                    "leaves": .array(changed.leaves.map { .string($0.description) }),
                ], status: 409)
        } catch let error as DatabaseError where error.code == .resolverFailed {
            throw error.cause.map { HTTPError($0) } ?? HTTPError(error)
        }
    }

    /// `POST /{db}/_settle`: a page of conflicts by a policy, each in its own transaction.
    static let many: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        try members.requireMembers(among: ["policy", "kind", "keys", "startkey", "endkey", "limit", "dry_run"])
        guard let given = members["policy"] else { throw HTTPError.badRequest("`policy` must be given.") }
        let policy = try SettleRequest.policy(given)
        let isDryRun = try SettleRequest.flag(members, "dry_run")
        let database = try context.database()
        try checkRights(context, DocumentID(unchecked: ""))
        let limit = try ConflictEndpoints.limit(members["limit"], most: mostDocuments)
        var pages = ConflictPages(database: database)
        try pages.take { members[$0] }
        var ids = try members["keys"].map(keys) ?? pages.first(limit + 1).map(\.id)
        let next = ids.count > limit ? ids[limit] : nil
        ids = Array(ids.prefix(limit))
        var page = SettledPage()
        let end = ContinuousClock.now + patience
        for (place, id) in ids.enumerated() {
            if place > 0, ContinuousClock.now >= end {
                return .json(page.json(next: id))
            }
            let planned = PlannedSettlement(context: context, database: database, id: id, policy: policy)
            do {
                try checkRights(context, id)
                if isDryRun {
                    page.add(try planned.rehearse(), id, policy)
                } else {
                    page.add(try planned.settle())
                }
            } catch let error as DatabaseError where !error.code.isOfOneDocument {
                throw error
            } catch { page.add(failure(error), id) }
        }
        return .json(page.json(next: next))
    }

    private static func failure(_ error: any Error) -> HTTPError {
        guard let error = error as? DatabaseError, error.code == .resolverFailed, let cause = error.cause else {
            return HTTPError(error)
        }
        return HTTPError(cause)
    }

    private static func keys(_ value: JSONValue) throws -> [DocumentID] {
        guard let list = value.array, list.count <= mostDocuments else {
            throw HTTPError.badRequest("`keys` must be an array of at most \(mostDocuments) ids.")
        }
        return try list.map { key in
            guard let text = key.string else { throw HTTPError.badRequest("`keys` must be strings.") }
            return DocumentID(unchecked: text)
        }
    }

    private static func isOfSystem(_ context: RequestContext) -> Bool {
        context.parameter("db").hasPrefix("_") || ReplicatorDocuments.isReplicator(context.parameter("db"))
    }

    /// Checks that the user may write a document; in databases of the system, whose documents have rules of their own, only
    /// the server's administrators settle.
    private static func checkRights(_ context: RequestContext, _ id: DocumentID) throws {
        if isOfSystem(context), !context.user.isServerAdmin {
            throw HTTPError.notAdmin(context.user)
        }
        try WriteGuard(context).check(id)
    }
}
