internal import SettleCore
internal import SettleDatabase

/// Finds local leaves that a Settle database has as ancestors of its state, although the histories that it sends do
/// not reach back to them.
///
/// A revision arrives with as many ancestors as the source keeps. An earlier leaf here is then not among them, and
/// stays beside it. A CouchDB no longer has that leaf, and gets it back as a branch. A Settle database whose clients
/// have version vectors still knows it (`RevisionTree.forgottenVersions`), so it would not get it back:
///
///     at the source    1-x                               here    1-x                        live, and never sent
///                      5 ─ 6 ─ … ─ 10-deleted                    5 ─ 6 ─ … ─ 10-deleted     comes now
///                      known, and not a leaf
///
/// So this asks the source which of these leaves it knows, and then for the document's leaves there. A known revision
/// that is not a leaf is an earlier state of the source. It is removed here, like a ``FormerStates`` leaf.
struct SupersededLeaves: Sendable {
    private let source: any PeerOperations
    private let database: Database
    /// The number of documents in one request.
    private static let maximumDocuments = 200

    /// Creates a value for a replication of all leaves from a Settle database into a database of this process. With a
    /// filter of revisions, the state that replaced a leaf may never come.
    init?(_ configuration: ReplicationConfiguration) {
        let source = configuration.source.operations
        guard source.keepsForgottenVersions, configuration.filter.passesWholeDocuments,
            !configuration.replicatesOnlyWinners, let database = configuration.target.operations.database
        else { return nil }
        (self.source, self.database) = (source, database)
    }

    /// Marks in the source's revisions which local leaves they replace. It sends no request unless a history is cut
    /// off above a leaf.
    ///
    /// - Throws: ``PeerError`` if the connection is lost; ``DatabaseError``.
    func markReplaced(in revisions: [PeerRevision]) async throws -> [PeerRevision] {
        let cut = revisions.indices.filter { revisions[$0].history.earliestGeneration > 1 }
        guard !cut.isEmpty else { return revisions }
        let besides = try await database.perform { database in
            try database.leaves(beside: cut.map { (revisions[$0].id, revisions[$0].history) })
        }
        var leaves: [DocumentID: Set<RevisionID>] = [:]
        for (index, beside) in zip(cut, besides) {
            let start = revisions[index].history.earliestGeneration
            leaves[revisions[index].id, default: []].formUnion(beside.map(\.leaf).filter { $0.generation < start })
        }
        // A leaf from which another of the revisions descends ends with that.
        for revision in revisions { leaves[revision.id]?.subtract(revision.history.revisions) }
        let documents = leaves.filter { !$0.value.isEmpty }.map { id, leaves in
            ChangedDocument(sequence: .start, id: id, leaves: leaves.sorted())
        }
        guard !documents.isEmpty else { return revisions }
        let replaced = try await superseded(among: documents)
        var marked = revisions
        for index in cut { marked[index].replaced += replaced[marked[index].id] ?? [] }
        return marked
    }

    /// The leaves that the source knows, and that are not leaves there.
    private func superseded(among documents: [ChangedDocument]) async throws -> [DocumentID: [RevisionID]] {
        var found: [DocumentID: [RevisionID]] = [:]
        for start in stride(from: 0, to: documents.count, by: Self.maximumDocuments) {
            let part = Array(documents[start..<min(start + Self.maximumDocuments, documents.count)])
            do {
                let missing = Dictionary(
                    try await source.differences(from: part).map { ($0.id, $0.missing) }, uniquingKeysWith: +)
                var known: [DocumentID: [RevisionID]] = [:]
                for document in part {
                    let leaves = document.leaves.filter { !(missing[document.id]?.contains($0) ?? false) }
                    if !leaves.isEmpty { known[document.id] = leaves }
                }
                guard !known.isEmpty else { continue }
                // The leaves are read last, so they include a leaf that was sent there meanwhile.
                let ids = known.keys.sorted()
                let page = try await source.changes(ChangesRequest(limit: ids.count, filter: .documents(ids)))
                for change in page.changes {
                    found[change.id] = known[change.id]?.filter { !change.leaves.contains($0) }
                }
            } catch let error as PeerError where !error.isTransient && error.status != nil {
                // A source that refuses to answer is treated like a CouchDB.
                continue
            }
        }
        return found
    }
}

extension RevisionHistory {
    /// The generation of the oldest revision.
    fileprivate var earliestGeneration: UInt64 { start - UInt64(signatures.count) + 1 }
}

extension ReplicationFilter {
    /// Whether all leaves of a document pass, or none.
    fileprivate var passesWholeDocuments: Bool {
        switch self {
        case .all, .documents: true
        case .selector, .named, .channels: false
        }
    }
}
