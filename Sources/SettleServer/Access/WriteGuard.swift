internal import RevisionTree
internal import SettleDatabase

/// What is asked about each document before it is written: design documents are for administrators, and users' documents
/// have rules of their own.
struct WriteGuard: Sendable {
    private let user: User
    private let isAdmin: Bool
    private let rules: UserDocumentRules?
    private let replicatorRules: ReplicatorDocumentRules?
    private let hasher: PasswordHasher
    private let scripts: ValidationScripts
    /// Where it is counted what is written.
    let metrics: Metrics

    /// Makes the guard of the database in a request's path.
    init(_ context: RequestContext) throws {
        metrics = context.server.metrics
        scripts = try ValidationScripts(context)
        let security = try context.server.databases.security(of: context.parameter("db"))
        user = context.user
        isAdmin = security.isAdmin(context.user)
        hasher = context.server.administration.hasher
        rules =
            context.parameter("db") == "_users"
            ? UserDocumentRules(user: context.user, isAdmin: isAdmin) : nil
        replicatorRules =
            ReplicatorDocuments.isReplicator(context.parameter("db"))
            ? ReplicatorDocumentRules(user: context.user) : nil
    }

    /// Sees that somebody may write a document of an id at all.
    ///
    /// - Throws: ``HTTPError`` with status 401, 403 or 404.
    func check(_ id: DocumentID) throws {
        if id.isDesign, !isAdmin { throw HTTPError.notAdmin(user) }
        try rules?.check(id)
    }

    /// Sees that somebody may bring revisions with their history.
    ///
    /// - Throws: ``HTTPError`` with status 403.
    func checkReplicated() throws {
        try replicatorRules?.checkReplicated()
        if rules != nil, !isAdmin {
            throw HTTPError.forbidden("Only administrators may bring revisions into the users database.")
        }
    }

    /// The body to store: a user's with the hash of the password instead of it, a replication's with its owner.
    ///
    /// - Parameters:
    ///   - body: The body that was sent.
    ///   - id: The document's id.
    ///   - isDeleted: Whether it is a tombstone's.
    ///   - isReplicated: Whether it comes with its revision.
    /// - Returns: The body.
    /// - Throws: ``HTTPError`` with status 403 for a body that breaks the rules.
    func prepared(
        _ body: DocumentBody, _ id: DocumentID, isDeleted: Bool, isReplicated: Bool = false
    ) throws -> DocumentBody {
        if let replicatorRules, !id.isDesign, !id.isLocal, !isDeleted, !isReplicated {
            return try replicatorRules.prepared(body)
        }
        guard let rules, !id.isDesign, !id.isLocal else { return body }
        if !isDeleted { try rules.check(body, id) }
        return try UserDocumentRules.hashed(body, by: hasher)
    }

    /// Writes edits, each of which may follow on what is stored, in one transaction with looking at that.
    func write(_ edits: [DocumentEdit], to database: Database) throws -> [Result<RevisionID, DatabaseError>] {
        guard scripts.isEmpty else { return try asked(edits, to: database) }
        let results = try guarded(edits, to: database)
        metrics.wroteDocuments(results.count { (try? $0.get()) != nil })
        return results
    }

    /// Stores what peers have made, but for what a validation function refuses.
    func insert(
        _ revisions: [ReplicatedRevision], to database: Database, refusingBranches: Bool
    ) throws -> [ReplicatedRevision.Outcome] {
        let refusals = scripts.isEmpty ? [:] : try scripts.refusals(of: revisions, to: database)
        let allowed = revisions.indices.filter { refusals[$0] == nil }
        var outcomes = try database.insertReplicated(
            allowed.map { revisions[$0] }, refusingBranches: refusingBranches)[...]
        let all = revisions.indices.compactMap { index -> ReplicatedRevision.Outcome? in
            refusals[index].map { .refused($0) } ?? outcomes.popFirst()
        }
        metrics.wroteDocuments(all.count { if case .stored = $0 { true } else { false } })
        return all
    }

    /// Writes what no validation function refuses.
    private func asked(_ edits: [DocumentEdit], to database: Database) throws -> [Result<RevisionID, DatabaseError>] {
        let refusals = try scripts.refusals(of: edits, to: database)
        let allowed = edits.indices.filter { refusals[$0] == nil }
        var results = try guarded(allowed.map { edits[$0] }, to: database)[...]
        metrics.wroteDocuments(results.count { (try? $0.get()) != nil })
        return edits.indices.compactMap { index in refusals[index].map { .failure($0) } ?? results.popFirst() }
    }

    private func guarded(
        _ edits: [DocumentEdit], to database: Database
    ) throws -> [Result<RevisionID, DatabaseError>] {
        guard rules != nil || replicatorRules != nil else { return try database.write(edits) }
        return try database.transaction {
            try edits.map { edit in
                do { try check(edit, in: database) } catch let error as HTTPError {
                    let refusal = ValidationError(status: error.status, message: error.reason)
                    return .failure(DatabaseError(.refused, error.reason, cause: refusal))
                }
                return try database.write([edit]).first ?? .failure(DatabaseError(.conflict, "nothing was written"))
            }
        }
    }

    private func check(_ edit: DocumentEdit, in database: Database) throws {
        guard !edit.id.isDesign else { return }
        let record = try database.record(of: edit.id)
        let old = record?.tree.winner.flatMap { $0.isDeleted ? nil : record?.content?.body }
        try replicatorRules?.check(after: old)
        try rules?.check(edit.isDeleted ? nil : edit.body, edit.id, after: old)
    }
}
