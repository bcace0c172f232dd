internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// Checks access to each document before it is written: design documents are for administrators, and documents of
/// users and replications have rules of their own.
struct WriteGuard: Sendable {
    private let user: User
    private let isAdmin: Bool
    private let rules: UserDocumentRules?
    private let replicatorRules: ReplicatorDocumentRules?
    private let hasher: PasswordHasher
    private let context: RequestContext
    private let scripts: ValidationScripts
    /// Counts the written documents.
    let metrics: Metrics

    /// Creates the guard for the database in a request's path.
    init(_ context: RequestContext) throws {
        self.context = context
        metrics = context.metrics
        scripts = try ValidationScripts(context)
        let security = try context.databases.security(of: context.parameter("db"))
        user = context.user
        isAdmin = security.isAdmin(context.user)
        hasher = context.hasher
        rules =
            context.parameter("db") == "_users"
            ? UserDocumentRules(user: context.user, isAdmin: isAdmin) : nil
        replicatorRules =
            ReplicatorDocuments.isReplicator(context.parameter("db"))
            ? ReplicatorDocumentRules(user: context.user) : nil
    }

    /// Checks that the user may write a document of an id.
    ///
    /// The functions of a design document see all documents. Those of a replicator database have passwords, so there
    /// only administrators of the server write one.
    ///
    /// - Throws: ``HTTPError`` with status 401, 403 or 404.
    func check(_ id: DocumentID) throws {
        let writesDesigns = replicatorRules == nil ? isAdmin : user.isServerAdmin
        if id.isDesign, !writesDesigns { throw HTTPError.notAdmin(user) }
        try replicatorRules?.check(id)
        try rules?.check(id)
    }

    /// Checks that the user may write revisions with their history.
    ///
    /// - Throws: ``HTTPError`` with status 403.
    func checkReplicated() throws {
        try replicatorRules?.checkReplicated()
        if rules != nil, !isAdmin {
            throw HTTPError.forbidden("Only administrators may bring revisions into the users database.")
        }
    }

    /// The body to store: a user's with a hash in place of the password, a replication's with its owner.
    ///
    /// - Parameters:
    ///   - body: The body that was sent.
    ///   - id: The document's id.
    ///   - isDeleted: Whether it is a tombstone.
    ///   - isReplicated: Whether it is a replicated revision.
    /// - Returns: The body.
    /// - Throws: ``HTTPError`` with status 403 for a body that violates the rules.
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

    /// Writes edits, except those that a validation function refuses.
    func write(_ edits: [DocumentEdit], to database: Database) throws -> [Result<RevisionID, DatabaseError>] {
        let write = ValidatedWrite<Result<RevisionID, DatabaseError>>(
            database: database, context: context,
            view: { item in
                let parent = edits[item.key.index].parent
                return .init(history: parent.map { RevisionHistory($0) }, hasParent: parent != nil)
            }, refused: { .failure($0) }, isRefused: { (try? $0.get()) == nil })
        let results = try write.run(edits.map(\.id), scripts) { indexes, _, check in
            try guarded(indexes.count == edits.count ? edits : indexes.map { edits[$0] }, check, to: database)
        }
        metrics.wroteDocuments(results.count { (try? $0.get()) != nil })
        return results
    }

    /// Stores replicated revisions, except those that a validation function refuses.
    func insert(
        _ revisions: [ReplicatedRevision], to database: Database, refusingBranches: Bool, leavingConflicts: Bool
    ) throws -> [ReplicatedRevision.Outcome] {
        let write = ValidatedWrite<ReplicatedRevision.Outcome>(
            database: database, context: context,
            view: { .init(history: revisions[$0.key.index].history, hasParent: true) }, refused: { .refused($0) },
            isRefused: { if case .refused = $0 { true } else { false } })
        let outcomes = try write.run(revisions.map(\.id), scripts) { indexes, _, check in
            try database.insertReplicated(
                indexes.count == revisions.count ? revisions : indexes.map { revisions[$0] },
                refusingBranches: refusingBranches, leavingConflicts: leavingConflicts, asking: check)
        }
        metrics.wroteDocuments(outcomes.count { if case .stored = $0 { true } else { false } })
        return outcomes
    }

    /// Changes attributes of objects, except changes that a validation function refuses.
    ///
    /// - Parameters:
    ///   - objects: The changes.
    ///   - latest: The latest accepted timestamp.
    ///   - refused: Objects of the request that were refused before.
    ///   - database: The objects' database.
    /// - Returns: The outcome of each object.
    /// - Throws: ``DatabaseError`` if nothing can be written.
    func change(
        _ objects: [ObjectChanges], believing latest: Int64, refused: [DocumentID], in database: Database
    ) throws -> [ObjectChanges.Outcome] {
        let write = ValidatedWrite<ObjectChanges.Outcome>(
            database: database, context: context, isWhole: true,
            view: { item in
                let parent = item.isParentDeleted ? nil : item.key.parent
                return .init(history: parent.map { RevisionHistory($0) }, hasParent: parent != nil)
            }, refused: { .refused($0) }, isRefused: { if case .resolved = $0 { false } else { true } })
        let outcomes = try write.run(objects.map(\.id), scripts) { indexes, known, check in
            let gone = known.indices.filter { known[$0].map(write.isRefused) ?? false }
            return try database.change(
                indexes.map { objects[$0] }, believing: latest, refused: refused + gone.map { objects[$0].id },
                asking: check)
        }
        metrics.wroteDocuments(
            outcomes.count { if case .resolved(let resolved) = $0 { resolved.isWritten } else { false } })
        return outcomes
    }

    private func guarded(
        _ edits: [DocumentEdit], _ check: WriteCheck, to database: Database
    ) throws -> [Result<RevisionID, DatabaseError>] {
        guard rules != nil || replicatorRules != nil else { return try database.write(edits, asking: check) }
        return try database.transaction {
            try edits.enumerated().map { place, edit in
                do { try self.check(edit, in: database) } catch let error as HTTPError {
                    let refusal = DocumentRejection(status: error.status, message: error.reason)
                    return .failure(DatabaseError(.refused, error.reason, cause: refusal))
                } catch let error as DatabaseError where error.code == .damagedDocument { return .failure(error) }
                return try database.write([edit], asking: check.at(place)).first
                    ?? .failure(DatabaseError(.conflict, "nothing was written"))
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
