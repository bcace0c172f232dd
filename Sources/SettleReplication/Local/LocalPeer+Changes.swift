internal import SettleCore
package import SettleDatabase
internal import SettlePlatform

extension LocalPeer {
    /// The next changed documents; see ``Peer/changes(_:)``.
    ///
    /// - Throws: ``PeerError`` with code `notFound` for a filter that is not registered
    ///   (`Database.addReplicationFilter(_:_:)`; SEMANTICS 130), or `badRequest` for channels, which
    ///   only Sync Gateway has.
    package func changes(_ request: ChangesRequest) async throws -> ChangesPage {
        let filter = try LocalFilter(request.filter, of: local, name: name)
        let since = UpdateSequence(request.since.number ?? 0)
        let (limit, start) = (max(1, request.limit), ContinuousClock.now)
        while true {
            let page = try await perform { database in
                try Self.page(of: database, since: since, limit: limit, filter: filter)
            }
            // A page that ends before `since` shows that an older database has replaced this one.
            guard page.changes.isEmpty, page.last.number == since.number, let wait = request.wait else { return page }
            let deadline = start + wait
            guard deadline > .now, await local.waitForChange(after: since, until: deadline) else { return page }
        }
    }

    /// The revisions missing here; see ``Peer/differences(from:)``.
    package func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff] {
        try await perform { database in
            let found = try database.differences(from: changes.map { ($0.id, $0.leaves, $0.isDeleted) })
            try database.markDeletions(found.deletions)
            return found.missing
        }
    }

    private static func page(
        of database: Database, since: UpdateSequence, limit: Int, filter: LocalFilter
    ) throws -> ChangesPage {
        try database.snapshot {
            let newest = try database.lastSequence()
            guard since < newest else { return ChangesPage(changes: [], last: PeerSequence(local: newest), pending: 0) }
            if case .documents(let ids) = filter, ids.count <= 1000 {
                return try page(of: database, ids: ids, since: since, limit: limit, newest: newest)
            }
            var page = ChangesPage(changes: [], last: PeerSequence(local: newest))
            var (last, seen) = (since, 0)
            page.changes.reserveCapacity(min(limit, 1000))
            // Limits the number of documents to read, so that a selective filter does not keep the caller waiting.
            let most = filter.passesAll ? limit : max(limit, 10_000)
            try database.forEachChange(
                in: SequenceRange(after: since), style: .allLeaves, includingDocuments: filter.needsDocuments
            ) { change in
                guard page.changes.count < limit, seen < most else { return false }
                (last, seen) = (change.sequence, seen + 1)
                if try filter.passes(change) {
                    page.changes.append(ChangedDocument(change))
                } else {
                    page.filtered += 1
                    if try filter.needsDocuments && mayHaveLeft(change, database) {
                        var left = ChangedDocument(change)
                        left.mayHaveLeft = true
                        page.changes.append(left)
                    }
                }
                return true
            }
            // Purges increase the sequence without a change.
            if page.changes.count < limit, seen < most { last = newest }
            page.last = PeerSequence(local: last)
            page.pending = last == newest ? 0 : try database.count(changedIn: SequenceRange(after: last))
            return page
        }
    }

    /// Whether the other peer may have an earlier revision of a document that does not pass the filter.
    private static func mayHaveLeft(_ change: Change, _ database: Database) throws -> Bool {
        guard change.winner.generation > 1, let tree = try database.tree(of: change.id) else { return false }
        return tree.revisions.contains { tree[$0]?.isShared == true }
    }

    /// The changes of some documents, looked up by id.
    private static func page(
        of database: Database, ids: Set<DocumentID>, since: UpdateSequence, limit: Int, newest: UpdateSequence
    ) throws -> ChangesPage {
        let all = try ids.compactMap { try database.change(of: $0) }.filter { $0.sequence > since }
            .sorted { $0.sequence < $1.sequence }
        let last = all.count > limit ? all[limit - 1].sequence : newest
        return ChangesPage(
            changes: all.prefix(limit).map(ChangedDocument.init), last: PeerSequence(local: last),
            pending: max(0, all.count - limit))
    }
}

extension ChangedDocument {
    /// A change of a local database.
    init(_ change: Change) {
        self.init(
            sequence: PeerSequence(local: change.sequence), id: change.id, leaves: change.leaves,
            isDeleted: change.isDeleted)
    }
}
