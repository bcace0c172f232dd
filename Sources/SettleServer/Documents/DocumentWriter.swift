internal import SettleCore
internal import SettleDatabase

/// Writes the documents of requests: edits, replicated revisions, and local documents.
struct DocumentWriter {
    let database: Database
    let writeGuard: WriteGuard
    private let resolver: AttachmentResolver
    /// Validates design documents; `nil` if their form does not matter.
    private let designCheck: DesignDocumentCheck?

    init(_ database: Database, _ context: RequestContext) throws {
        self.database = database
        writeGuard = try WriteGuard(context)
        resolver = AttachmentResolver(database: database)
        designCheck =
            context.options.trustsWriters
            ? nil : DesignDocumentCheck(scripts: context.scripts, database: database)
    }

    /// A document, and the contents of its attachments that are outside of its JSON.
    typealias Given = (id: DocumentID, document: WireDocument, following: FollowingContents)

    /// The outcome of one document: its new revision, or an error.
    typealias Outcome = Result<String, HTTPError>

    /// Writes one edit, which `branches` allows to begin a branch on any known revision, and returns its revision.
    ///
    /// - Throws: ``HTTPError``, or ``DatabaseError``.
    func edit(
        _ document: WireDocument, id: DocumentID, following: FollowingContents = FollowingContents(),
        branches: Bool = false
    ) throws -> String {
        try edit([(id, document, following)], branches: branches).first?.get() ?? ""
    }

    /// Writes edits in one transaction; a refused edit has an error in its place.
    ///
    /// - Throws: ``HTTPError`` if the whole batch is refused, for a document that is too large.
    func edit(_ documents: [Given], branches: Bool = false) throws -> [Outcome] {
        var outcomes = [Outcome](repeating: .failure(.conflict), count: documents.count)
        var edits: [(index: Int, edit: DocumentEdit)] = []
        var locals: [(index: Int, local: LocalDocument?)] = []
        for (index, (id, document, following)) in documents.enumerated() {
            do {
                try writeGuard.check(id)
                if id.isLocal {
                    locals.append((index, try local(id, document)))
                    continue
                }
                if case .impossible = document.revision { throw HTTPError.conflict }
                if id.isDesign { try designCheck?.check(document) }
                let (body, attachments) = try EditedBlobs(database: database).adapt(
                    document.body,
                    try resolver.attachments(of: document, following, id: id, branches: branches), of: id,
                    parent: document.revision?.id)
                var edit = DocumentEdit(
                    id: id, parent: document.revision?.id, isDeleted: document.isDeleted,
                    body: try writeGuard.prepared(body, id, isDeleted: document.isDeleted), attachments: attachments)
                edit.branches = branches
                edits.append((index, edit))
            } catch let error as HTTPError {
                if error.status == 413 { throw error }
                outcomes[index] = .failure(error)
            }
        }
        for (edit, result) in zip(edits, try writeGuard.write(edits.map(\.edit), to: database)) {
            outcomes[edit.index] = result.map(\.description).mapError { Self.httpError($0, edit.edit.id) }
        }
        // Written last, because an error of the edits refuses the whole batch.
        for (index, local) in locals {
            do { outcomes[index] = .success(try write(local, documents[index].id)) } catch let error as DatabaseError {
                outcomes[index] = .failure(HTTPError(error))
            }
        }
        return outcomes
    }

    /// Stores replicated revisions.
    ///
    /// - Parameters:
    ///   - documents: The revisions.
    ///   - refusingBranches: Whether a revision that would branch is refused as a conflict.
    ///   - leavingConflicts: Whether it may leave live leaves that were here before.
    /// - Returns: The refused revisions.
    /// - Throws: ``HTTPError`` if nothing may be written; ``DatabaseError``.
    func insert(
        _ documents: [Given], refusingBranches: Bool = false, leavingConflicts: Bool = false
    ) throws -> [(id: DocumentID, revision: String, error: HTTPError)] {
        try writeGuard.checkReplicated()
        var revisions: [ReplicatedRevision] = []
        var refused: [(id: DocumentID, revision: String, error: HTTPError)] = []
        var locals: [(id: DocumentID, local: LocalDocument?)] = []
        for (id, document, following) in documents {
            let body: DocumentBody
            let history: RevisionHistory
            do {
                try writeGuard.check(id)
                if id.isLocal {
                    locals.append((id, try local(id, document)))
                    continue
                }
                guard let known = document.history ?? document.revision?.id.map({ RevisionHistory($0) }) else {
                    throw HTTPError.invalidRevision
                }
                history = known
                body = try writeGuard.prepared(
                    document.body, id, isDeleted: document.isDeleted, isReplicated: true)
                if id.isDesign { try designCheck?.check(document) }
            } catch let error as HTTPError where error.isAboutRights || error.isAboutRevision || id.isDesign {
                refused.append((id, document.revision?.description ?? "", error))
                continue
            }
            let attachments: [DocumentAttachment]
            do {
                attachments = try resolver.attachments(of: document, following, id: id, history: history)
            } catch let error as HTTPError where error.status == 412 {
                // A revision that is stored stays as it is, whatever is sent.
                let isStored = try database.tree(of: id)?.contains(history.revision) ?? false
                if !isStored { refused.append((id, history.revision.description, error)) }
                continue
            }
            var revision = ReplicatedRevision(
                id: id, history: history, isDeleted: document.isDeleted, body: body, attachments: attachments)
            revision.keepsZeroRevpos = true
            revisions.append(revision)
        }
        // Sequences are assigned in the order of ids.
        revisions.sort { $0.id < $1.id }
        let outcomes = try writeGuard.insert(
            revisions, to: database, refusingBranches: refusingBranches, leavingConflicts: leavingConflicts)
        // Written last, because an error of the revisions refuses the whole batch.
        for (id, local) in locals {
            do { _ = try write(local, id) } catch let error as DatabaseError {
                refused.append((id, "", HTTPError(error)))
            }
        }
        return refused
            + zip(revisions, outcomes).compactMap { revision, outcome in
                guard case .refused(let error) = outcome else { return nil }
                return (revision.id, revision.history.revision.description, Self.httpError(error, revision.id))
            }
    }

    /// The next state of a local document: `0-N` becomes `0-(N+1)`, whatever it contained; `nil` if it is deleted.
    private func local(_ id: DocumentID, _ document: WireDocument) throws -> LocalDocument? {
        if document.isDeleted { return nil }
        var number: Int64 = 0
        if let revision = document.revision {
            let parts = revision.description.split(separator: "-", maxSplits: 1)
            guard parts.count == 2, parts[0] == "0", let given = Int64(parts[1]), given < Int64.max else {
                throw HTTPError.invalidRevision
            }
            number = given
        }
        return LocalDocument(id: id, revisionNumber: number + 1, body: document.body)
    }

    private func write(_ local: LocalDocument?, _ id: DocumentID) throws -> String {
        guard let local else {
            try database.deleteLocalDocument(id)
            return "0-0"
        }
        try database.put(local)
        return local.revision
    }

    private static func httpError(_ error: DatabaseError, _ id: DocumentID) -> HTTPError {
        error.code == .documentTooLarge ? .documentTooLarge(id.string) : HTTPError(error)
    }
}
