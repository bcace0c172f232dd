internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// Settling conflicts at the server, by the revisions that any other copy would write: an extension of ours.
enum SettleEndpoints {
    /// The time that one call goes on.
    private static let patience: Duration = .seconds(2)

    /// `GET /_policies`: the policies and the rules that a settlement may name.
    static let policies: Endpoint = .read { _ in .json(SettlementJSON.policies) }

    /// `POST /{db}/_settle/{docid}`
    static let one: Endpoint = .work { context in
        try context.requireContentType()
        let (database, id) = (try context.database(), DocumentID(unchecked: context.parameter("id")))
        try checkRights(context)
        try WriteGuard(context).check(id)
        let leaves = try database.conflict(of: id)?.leaves ?? []
        let request = try SettleRequest(try context.jsonObject(), about: id, leaves: leaves)
        try check(request, id, context)
        guard try database.record(of: id) != nil else { throw HTTPError.missing }
        let source = UserSource(context, id, in: database, seen: request.leaves)
        do {
            guard request.isDryRun else {
                let settlement = try source.settle(by: request.policy).settlement
                let isWritten = !settlement.written.isEmpty
                return .json(SettlementJSON.settlement(settlement), status: isWritten ? 201 : 200)
            }
            guard let (preview, refusals) = try source.rehearse(by: request.policy) else {
                var answer = SettlementJSON.nothing(id)
                answer["dry_run"] = true
                return .json(answer)
            }
            let answer = RehearsalAnswer(
                request: request, database: database, preview: preview, refusals: refusals)
            return .json(try answer.json())
        } catch let changed as UserSource.Changed {
            return .json(
                [
                    "error": "conflict", "reason": "The leaves have changed.",
                    "leaves": .array(changed.leaves.map { .string($0.description) }),
                ], status: 409)
        } catch let refusal as UserSource.Refusal {
            return .json(
                [
                    "error": .string(refusal.error.error), "reason": .string(refusal.error.reason),
                    "rev": .string(refusal.revision.description),
                ], status: refusal.error.status)
        } catch { throw failure(error) }
    }

    /// `POST /{db}/_settle`: a page of conflicts by a policy, each in its own transaction.
    static let many: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        try members.requireMembers(
            among: ["policy", "kind", "keys", "startkey", "endkey", "limit", "dry_run", "may_delete"])
        guard let given = members["policy"] else { throw HTTPError.badRequest("`policy` must be given.") }
        let mayDelete = try members["may_delete"] == nil || SettleRequest.flag(members, "may_delete")
        let decided = try SettleRequest.policy(given)
        let policy = mayDelete ? decided : decided.sparingDocuments
        let isDryRun = try SettleRequest.flag(members, "dry_run")
        let database = try context.database()
        try checkRights(context)
        let writeGuard = try WriteGuard(context)
        let limit = try ConflictEndpoints.limit(members["limit"])
        var pages = ConflictPages(database: database)
        try pages.read { members[$0] }
        let ids: [DocumentID]
        if let keys = try members["keys"].map(ConflictPages.ids) {
            ids = Array(try pages.rest(of: keys).prefix(limit + 1))
        } else {
            ids = try pages.first(limit + 1)
        }
        let hasKeys = members["keys"] != nil
        var page = SettledPage()
        let end = ContinuousClock.now + patience
        for (place, id) in ids.enumerated() {
            // At least one, so that the caller comes on.
            if place == limit || place > 0 && ContinuousClock.now >= end { return .json(page.json(next: id)) }
            let source = UserSource(context, id, in: database)
            do {
                try writeGuard.check(id)
                if hasKeys, try pages.excludes(id) {
                    page.add(Settlement(id, .left))
                } else if isDryRun {
                    page.add(try source.rehearse(by: policy), id, by: policy)
                } else {
                    let (settlement, outcome) = try source.settle(by: policy)
                    page.add(settlement, outcome.map { .object(SettlementJSON.outcome($0)) })
                }
            } catch let error as DatabaseError where !error.code.isOfOneDocument {
                throw error
            } catch let refusal as UserSource.Refusal {
                page.add(refusal.error, id)
            } catch { page.add(failure(error), id) }
        }
        return .json(page.json(next: nil))
    }

    /// The error that a policy has thrown, such as a pick that names no leaf.
    private static func failure(_ error: any Error) -> HTTPError {
        guard let error = error as? DatabaseError, error.code == .resolverFailed, let cause = error.cause else {
            return HTTPError(error)
        }
        return HTTPError(cause)
    }

    private static func isOfSystem(_ context: RequestContext) -> Bool {
        ReplicatorDocuments.isOfSystem(context.parameter("db"))
    }

    /// In databases of the system, whose documents have rules of their own, only the server's administrators settle.
    private static func checkRights(_ context: RequestContext) throws {
        if isOfSystem(context), !context.user.isServerAdmin { throw HTTPError.notAdmin(context.user) }
    }

    /// Some documents are prepared or checked when they are written: those of the system, such as passwords that are hashed, and
    /// design documents. They are settled by what their leaves have.
    private static func check(_ request: SettleRequest, _ id: DocumentID, _ context: RequestContext) throws {
        guard request.isInvented && (id.isDesign || isOfSystem(context)) else { return }
        throw HTTPError.forbidden(
            "This document is settled by what its leaves have: use `policy`, `keep`, `delete` or picks of leaves.")
    }
}

// MARK: - SettledPage

/// The outcomes of a page of conflicts.
struct SettledPage {
    private var rows: [JSONValue] = []
    private var report = SettlementReport()

    /// Adds a settlement, with what becomes of the document.
    mutating func add(_ settlement: Settlement, _ effect: JSONValue? = nil) {
        report.add(settlement)
        var row: JSONValue = [
            "id": .string(settlement.documentID.string), "ok": true, "outcome": .string(settlement.outcome.rawValue),
            "rev": SettlementJSON.revision(settlement.survivor),
            "written": .number(JSONNumber(settlement.written.count)),
            "clashes": .array(
                settlement.decision?.attributes.filter(\.isClash).map { .string($0.path) } ?? []),
        ]
        row["effect"] = effect
        rows.append(row)
    }

    /// Adds a rehearsal; `nil` for a document that is no longer in conflict.
    mutating func add(
        _ rehearsal: (preview: SettlementPreview, refusals: [UserSource.Refusal])?, _ id: DocumentID,
        by policy: ConflictPolicy
    ) {
        guard let (preview, refusals) = rehearsal else { return add(Settlement(id, .nothing)) }
        if let refusal = refusals.first { return add(refusal.error, id) }
        add(preview.settlement(by: policy), SettlementJSON.summary(SettlementEffect(preview)))
    }

    /// Adds a failure.
    mutating func add(_ error: HTTPError, _ id: DocumentID) {
        report.addFailure()
        rows.append([
            "id": .string(id.string), "error": .string(error.error), "reason": .string(error.reason),
            "status": .number(JSONNumber(error.status)),
        ])
    }

    /// The answer. `next` is the document at which the caller continues; `nil` after the last page.
    func json(next: DocumentID?) -> JSONValue {
        var answer: JSONObject = ["rows": .array(rows)]
        for member in SettlementJSON.report(report) { answer[member.name] = member.value }
        answer["next_startkey"] = next.map { .string($0.string) } ?? .null
        return .object(answer)
    }
}

// MARK: - RehearsalAnswer

/// The answer of a dry run of a settlement.
struct RehearsalAnswer {
    let request: SettleRequest
    let database: Database
    let preview: SettlementPreview
    let refusals: [UserSource.Refusal]

    /// Bodies up to this size in all are part of the answer.
    private static let maximumBytes = 16 << 20

    /// The answer.
    func json() throws -> JSONValue {
        let settlement = preview.settlement(by: request.policy)
        var left = Self.maximumBytes
        var room = SettlementJSON.effectBytes
        return [
            "ok": true, "id": .string(preview.conflict.documentID.string), "dry_run": true,
            "outcome": .string(settlement.outcome.rawValue), "rev": SettlementJSON.revision(settlement.survivor),
            "policy": .string(request.policy.name),
            "decision": preview.decision.map { decision in
                SettlementJSON.decision(decision) { field in
                    var row = SettlementJSON.member(field, source: "rev")
                    row["picked"] = .bool(request.picked.contains(ExactText(field.path)))
                    return row
                }
            } ?? .null,
            "effect": SettlementJSON.effect(SettlementEffect(preview), within: &room),
            "writes": .array(try preview.plan.writes.map { try write($0, &left) }),
            "refused": .array(
                refusals.map { refusal in
                    [
                        "rev": .string(refusal.revision.description), "error": .string(refusal.error.error),
                        "reason": .string(refusal.error.reason),
                    ]
                }),
            "warnings": .array(settlement.warnings.map(JSONValue.string)),
        ]
    }

    private func write(_ write: SettlementPlan.Write, _ left: inout Int) throws -> JSONValue {
        var row: JSONValue = [
            "rev": .string(write.revision.description), "parent": .string(write.parent.description),
            "deleted": .bool(write.isDeleted),
        ]
        left -= write.body.utf8.count
        guard left > 0 else {
            row["omitted"] = true
            return row
        }
        var members = write.body.json.object ?? JSONObject()
        if !write.attachments.isEmpty {
            members[WireAttachment.listName] = WireAttachment.json(write.attachments.map { $0.wire() })
        }
        row["doc"] = .object(members)
        return row
    }
}
