internal import SettleCore
internal import SettleDatabase

/// Finds requested revisions.
struct DocumentLookup {
    let source: any DocumentSource

    struct Found {
        let record: DocumentRecord
        let revision: RevisionID
        let content: RevisionContent
    }

    /// A requested revision that is missing.
    struct MissingRevision: Error {
        let revision: String
    }

    /// A document's winner.
    ///
    /// - Throws: ``HTTPError/missing`` or ``HTTPError/deleted``.
    func winner(_ id: DocumentID, isDeletedWanted: Bool = false) throws -> Found {
        guard let record = try source.record(of: id), let winner = record.tree.winner, let content = record.content
        else { throw HTTPError.missing }
        guard !winner.isDeleted || isDeletedWanted else { throw HTTPError.deleted }
        return Found(record: record, revision: winner.revision, content: content)
    }

    /// Checks that a document has a winner that is not deleted; its content may be damaged.
    ///
    /// - Throws: ``HTTPError/missing`` or ``HTTPError/deleted``.
    func checkExistence(of id: DocumentID) throws {
        guard let winner = try source.database.tree(of: id)?.winner else { throw HTTPError.missing }
        if winner.isDeleted { throw HTTPError.deleted }
    }

    /// One revision, deleted or not.
    ///
    /// - Throws: ``HTTPError/missing``.
    func revision(_ id: DocumentID, _ revision: WireRevision) throws -> Found {
        guard let found = try find(revision, of: id) else { throw HTTPError.missing }
        return found
    }

    /// One revision, or `nil`.
    func find(_ revision: WireRevision, of id: DocumentID) throws -> Found? {
        guard let revision = revision.id else { return nil }
        // Record and content have to be of one state.
        return try source.snapshot {
            guard let record = try source.record(of: id) else { return nil }
            return try found(revision, in: record)
        }
    }

    /// The revisions of an `open_revs` parameter, in order: the found ones, and the names of the missing ones.
    func open(
        _ wanted: DocumentOptions.OpenRevisions, of id: DocumentID, isLatest: Bool
    ) throws -> [Result<Found, MissingRevision>] {
        try source.snapshot {
            let record = try source.record(of: id)
            guard let record else {
                guard case .some(let revisions) = wanted else { return [] }
                return revisions.map { .failure(MissingRevision(revision: $0.description)) }
            }
            var names: [WireRevision]
            switch wanted {
            case .all: names = record.tree.leaves.map { .revision($0.revision) }
            case .some(let revisions):
                names = isLatest ? revisions.flatMap { latest($0, in: record.tree) } : revisions
            case .none: names = []
            }
            var seen = Set<WireRevision>()
            names = names.filter { seen.insert($0).inserted }
            return try names.map { name in
                guard let revision = name.id, let found = try found(revision, in: record) else {
                    return .failure(MissingRevision(revision: name.description))
                }
                return .success(found)
            }
        }
    }

    /// The leaves that descend from a revision, or the revision itself if it is unknown.
    func latest(_ revision: WireRevision, in tree: RevisionTree) -> [WireRevision] {
        guard let id = revision.id, tree.contains(id) else { return [revision] }
        let leaves = tree.leaves.map(\.revision).filter { tree.isAncestor(id, of: $0) }
        return leaves.isEmpty ? [revision] : leaves.map { .revision($0) }
    }

    private func found(_ revision: RevisionID, in record: DocumentRecord) throws -> Found? {
        try source.content(of: revision, in: record).map {
            Found(record: record, revision: revision, content: $0)
        }
    }
}
